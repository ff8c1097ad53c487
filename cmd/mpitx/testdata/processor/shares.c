/* shares.c: what ranks do before a barrier, in five rounds: "equal": each computes for 20 ms; "more": rank 1 for 80 ms; "sleep": rank 1 sleeps
 * for 60 ms more; "short": each computes 100 times for 10 us. Times of computing are processor time, so they do not depend on what else
 * runs. A second argument binds the ranks to this many of the cores that the first rank may use. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void compute(double ms)
{
    struct timespec start, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - start.tv_sec) * 1e3 + (double)(now.tv_nsec - start.tv_nsec) / 1e6 < ms);
}

static void bind(int rank, int cores)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int core = 0, nth = rank % cores; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && nth-- == 0) CPU_SET(core, &one);
    sched_setaffinity(0, sizeof one, &one);
}

int main(int argc, char **argv)
{
    int rank;
    const char *what = argv[1];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 2) bind(rank, atoi(argv[2]));
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "short") == 0) {
        for (int i = 0; i < 100; i++) {
            compute(0.01);
            MPI_Allreduce(MPI_IN_PLACE, &(int){i}, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
    } else {
        for (int round = 0; round < 5; round++) {
            compute(rank == 1 && strcmp(what, "more") == 0 ? 80 : 20);
            if (rank == 1 && strcmp(what, "sleep") == 0) nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
