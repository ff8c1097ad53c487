/* sampler_cpu SECONDS: computes, with a call of MPI every 20 microseconds or so, and prints the nanoseconds of a fixed piece of work:
 * the median of many. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    double seconds = atof(argv[1]), work = 0;
    volatile double x = 1;
    int flag, n = 0;
    MPI_Init(&argc, &argv);
    double start = now(), at = start;
    while (at < start + seconds * 1e9) {
        for (int k = 0; k < 50; k++) {
            for (int i = 0; i < 10000; i++) x = x * 1.0000001 + 1e-9;
            MPI_Initialized(&flag);
        }
        double then = now();
        work += then - at;
        at = then;
        n++;
    }
    printf("%.1f ns\n", work / n);
    fflush(stdout);
    MPI_Finalize();
    return x < 0;
}
