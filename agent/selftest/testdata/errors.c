/* Receives into buffers that are too small, completed by each kind of call. One process. */
#include <mpi.h>
#include <stdio.h>

enum { WAYS = 8 };

static char to[100], from[100];

/* One receive that fails and one that does not, the former into requests[0]. */
static void start(int way, MPI_Request *requests)
{
    if (way < 2) {
        MPI_Recv_init(to, 2, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
        MPI_Start(&requests[0]);
    } else {
        MPI_Irecv(to, 2, MPI_CHAR, 0, 1, MPI_COMM_SELF, &requests[0]);
    }
    MPI_Irecv(to + 2, 20, MPI_CHAR, 0, 2, MPI_COMM_SELF, &requests[1]);
    MPI_Send(from, 10, MPI_CHAR, 0, 2, MPI_COMM_SELF);
    MPI_Send(from, 50, MPI_CHAR, 0, 1, MPI_COMM_SELF);
}

static int complete(int way, MPI_Request *requests)
{
    int flag = 0, index, indices[2], rc = MPI_SUCCESS;
    MPI_Status statuses[2];
    switch (way) {
    case 0:
    case 2: return MPI_Wait(requests, MPI_STATUS_IGNORE);
    case 1:
    case 3: while (!flag && rc == MPI_SUCCESS) rc = MPI_Test(requests, &flag, MPI_STATUS_IGNORE); return rc;
    case 4: return MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    case 5: while (!flag && rc == MPI_SUCCESS) rc = MPI_Testany(1, requests, &index, &flag, MPI_STATUS_IGNORE); return rc;
    case 6: return MPI_Waitall(2, requests, statuses);
    default: return MPI_Waitsome(2, requests, &flag, indices, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    int failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int way = 0; way < WAYS; way++) {
        MPI_Request requests[2];
        start(way, requests);
        failed += complete(way, requests) != MPI_SUCCESS;
        if (way < 2) MPI_Request_free(&requests[0]);
        for (int i = 0; i < 2; i++)
            while (requests[i] != MPI_REQUEST_NULL) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    printf("%d failed\n", failed);
    MPI_Finalize();
    return 0;
}
