/* Persistent requests to MPI_PROC_NULL, as at the edge of a halo exchange: started repeatedly, completed one by one, freed. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Request requests[4];
    int byte = 0, count, indices[4];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i += 2) {
        MPI_Send_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Recv_init(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &requests[i + 1]);
    }
    for (int round = 0; round < 10; round++) {
        MPI_Startall(4, requests);
        do {
            if (round % 2) MPI_Waitsome(4, requests, &count, indices, MPI_STATUSES_IGNORE);
            else MPI_Waitany(4, requests, &count, MPI_STATUS_IGNORE);
        } while (count != MPI_UNDEFINED);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
    MPI_Finalize();
    return 0;
}
