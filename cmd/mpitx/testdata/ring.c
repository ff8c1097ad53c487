/* ring ROUNDS: each rank sends 16 bytes to the next one in each round. An even number of ranks. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, rounds = atoi(argv[1]), data[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 0) MPI_Send(data, 4, MPI_INT, to, i, MPI_COMM_WORLD);
        MPI_Recv(data, 4, MPI_INT, from, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank % 2 == 1) MPI_Send(data, 4, MPI_INT, to, i, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
