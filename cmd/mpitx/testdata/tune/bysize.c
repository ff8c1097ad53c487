/* bysize.c: broadcasts of two sizes. */
#include <mpi.h>

int main(int argc, char **argv)
{
    static int data[16384];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 60; i++) MPI_Bcast(data, i % 2 ? 2 : 16384, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
