/* Each rank exchanges 20 long messages with the one that is two further on or back, and two short ones with its neighbor. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, k;
    char *out = calloc(1, 500000), *in = calloc(1, 500000);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (k = 0; k < 20; k++) {
        MPI_Sendrecv(out, 500000, MPI_CHAR, rank ^ 2, 1, in, 500000, MPI_CHAR, rank ^ 2, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (k < 2) MPI_Sendrecv(out, 100, MPI_CHAR, rank ^ 1, 2, in, 100, MPI_CHAR, rank ^ 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(out);
    free(in);
    return 0;
}
