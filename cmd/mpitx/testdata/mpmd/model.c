/* One of two coupled programs: COLOR 0 sends to COLOR 1. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, local_rank, value = 1;
    MPI_Comm local, coupler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, COLOR, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, COLOR ? 0 : size - 1, 7, &coupler);
    MPI_Comm_rank(local, &local_rank);
    if (COLOR == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 1, coupler, MPI_STATUS_IGNORE);
    else if (local_rank == 0)
        MPI_Send(&value, 1, MPI_INT, 0, 1, coupler);
    MPI_Barrier(local);
    printf("rank %d of %d\n", rank, size);
    MPI_Finalize();
    return 0;
}
