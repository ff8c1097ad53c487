/* grow.c: uses more and more memory, until it has 100 MB, and calls MPI_Barrier after each 10 MB. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) {
        char *more = malloc(10000000);
        memset(more, i + 1, 10000000);
        usleep(20000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
