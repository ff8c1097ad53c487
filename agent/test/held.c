/* held: makes events: held COUNT [RATE]: as fast as it can, or RATE a second. It raises events of MPI_T, or without RAISE calls MPI_Send, which tests' null MPI
 * returns from at once. Prints the nanoseconds that they took, and what callbacks did that they must not do. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "events_library.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    char bytes[8] = {0};
    long count = strtol(argv[1], NULL, 10);
    double pause = argc > 2 ? 1e9 / strtod(argv[2], NULL) : 0;
    MPI_Init(&argc, &argv);
    double start = now();
    for (long i = 0; i < count; i++) {
#ifdef RAISE
        events_raise(EVENT_PAIR, MPI_COMM_NULL, (int)i, 0.5, 0);
#else
        MPI_Send(bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
#endif
        while (i % 32 == 0 && pause > 0 && now() < start + (double)i * pause) {}
    }
    printf("%.0f\n", now() - start);
#ifdef RAISE
    printf("forbidden %ld\n", events_forbidden());
#endif
    MPI_Finalize();
    return 0;
}
