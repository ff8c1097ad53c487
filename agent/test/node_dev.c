/* node_dev.c: replaces ROOT/proc/net/dev by ROOT/later, before the last sample: node_dev ROOT. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    char from[4096], to[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(from, sizeof from, "%s/later", argv[1]);
    snprintf(to, sizeof to, "%s/proc/net/dev", argv[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && rename(from, to) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
