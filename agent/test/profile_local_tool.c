/* A PMPI tool after the agent, whose MPI_Type_size takes 20 µs in each $PERIOD-th call. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    static int calls, period;
    if (!period) period = atoi(getenv("PERIOD"));
    if (calls++ % period == 0)
        for (double until = now() + 20000; now() < until;) continue;
    return PMPI_Type_size(type, size);
}
