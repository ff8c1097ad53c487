/* timing.c: times MPI_Scatter and MPI_Bcast of 64 bytes in the plainest way, and prints the medians in nanoseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMES = 21 };

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static char in[64 * 16], out[64];
    double times[TIMES];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int which = 0; which < 2; which++) {
        for (int i = 0; i < TIMES; i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double start = MPI_Wtime(), mine;
            if (which == 0) MPI_Scatter(in, 64, MPI_CHAR, out, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
            else MPI_Bcast(in, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
            mine = MPI_Wtime() - start;
            MPI_Allreduce(&mine, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        }
        qsort(times, TIMES, sizeof *times, compare);
        if (rank == 0) printf("%.0f\n", 1e9 * times[TIMES / 2]);
    }
    MPI_Finalize();
    return 0;
}
