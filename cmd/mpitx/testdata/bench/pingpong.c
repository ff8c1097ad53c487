/* pingpong LIBRARY: two ranks exchange 8 bytes, alternately through what wraps MPI in this process and with the library's own functions.
 * Rank 0 prints, for each two blocks, the nanoseconds of a round directly and through it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

enum { BLOCKS = 400, ROUNDS = 20000 };
static __typeof__(MPI_Send) *sends[2];
static __typeof__(MPI_Recv) *receives[2];
static int rank;

static double block(int with)
{
    struct timespec from, to;
    char bytes[8] = {0};
    PMPI_Barrier(MPI_COMM_WORLD);
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < ROUNDS; i++)
        if (rank == 0) {
            sends[with](bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            receives[with](bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            receives[with](bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sends[with](bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / ROUNDS;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    sends[0] = (__typeof__(sends[0]))dlsym(library, "PMPI_Send"), sends[1] = MPI_Send;
    receives[0] = (__typeof__(receives[0]))dlsym(library, "PMPI_Recv"), receives[1] = MPI_Recv;
    for (int i = 0; i < BLOCKS; i++) {
        double direct = block(0), through = block(1);
        if (rank == 0) printf("%.1f %.1f\n", direct, through);
    }
    MPI_Finalize();
    return 0;
}
