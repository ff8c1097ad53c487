/* sampler_level LEVEL: requests a thread level (0: MPI_THREAD_SINGLE … 3), prints the one from MPI_Query_thread, computes for half a second
 * without any call, and prints the start and end of that in nanoseconds of CLOCK_REALTIME. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};
    int level, k = 0;
    MPI_Init_thread(&argc, &argv, levels[atoi(argv[1])], &level);
    MPI_Query_thread(&level);
    while (levels[k] != level) k++;
    long long from = now() + 5000000, to = from + 500000000;
    while (now() < to) continue;
    printf("level %d\ncomputes %lld %lld\n", k, from, to);
    fflush(stdout);
    MPI_Query_thread(&level);
    MPI_Finalize();
    return 0;
}
