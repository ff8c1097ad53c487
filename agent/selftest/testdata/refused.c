/* Calls that the library refuses because of a NULL argument. One process. */
#include <mpi.h>
#include <stdio.h>

static int calls, refused;

static void made(int rc)
{
    calls++;
    refused += rc != MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    char from[8] = {0}, to[8];
    int index, indices[2];
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, *volatile no_request = NULL;
    MPI_Status statuses[2];
    int *volatile nothing = NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Irecv(to, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
    made(MPI_Wait(no_request, statuses));
    made(MPI_Test(no_request, &index, statuses));
    made(MPI_Test(requests, nothing, statuses));
    made(MPI_Waitall(2, no_request, statuses));
    made(MPI_Testall(2, requests, nothing, statuses));
    made(MPI_Waitany(2, requests, nothing, statuses));
    made(MPI_Testany(2, requests, nothing, nothing, statuses));
    made(MPI_Waitsome(2, requests, nothing, indices, statuses));
    made(MPI_Testsome(2, requests, nothing, nothing, statuses));
    made(MPI_Request_free(no_request));
#ifdef OPEN_MPI
    made(MPI_Waitsome(2, requests, &index, nothing, statuses));
    made(MPI_Alltoallv(from, nothing, indices, MPI_CHAR, to, indices, indices, MPI_CHAR, MPI_COMM_WORLD));
    made(MPI_Alltoallw(from, indices, indices, NULL, to, indices, indices, NULL, MPI_COMM_WORLD));
    made(MPI_Gatherv(from, 1, MPI_CHAR, to, nothing, indices, MPI_CHAR, 0, MPI_COMM_WORLD));
    made(MPI_Scatterv(from, nothing, indices, MPI_CHAR, to, 1, MPI_CHAR, 0, MPI_COMM_WORLD));
    made(MPI_Reduce_scatter(from, to, nothing, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD));
#else
    made(MPI_Waitall(2, requests, (MPI_Status *)nothing));
    made(MPI_Mrecv(to, 1, MPI_CHAR, (MPI_Message *)nothing, statuses));
    made(MPI_Imrecv(to, 1, MPI_CHAR, (MPI_Message *)nothing, &requests[1]));
#endif
    MPI_Send(from, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    printf("%d of %d refused\n", refused, calls);
    MPI_Finalize();
    return 0;
}
