/* A persistent collective, in three rounds; a persistent send and receive, in two. One process. */
#include <mpi.h>
#if MPI_VERSION < 4
#include <mpi-ext.h>
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif

int main(int argc, char **argv)
{
    int value[2] = {1, 2}, result[2], got[3];
    MPI_Request sum, requests[2];
    MPI_Init(&argc, &argv);
    MPI_Allreduce_init(value, result, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &sum);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&sum);
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
    }
    MPI_Recv_init(got, 3, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
    MPI_Send_init(value, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&requests[0]);
        MPI_Start(&requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&sum);
    MPI_Finalize();
    return 0;
}
