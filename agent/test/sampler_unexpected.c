/* sampler_unexpected ROUNDS N MS: in each round, rank 0 sends N messages that rank 1 receives only MS ms later; further ranks compute
 * without MPI. Exits with 3 times its rank. Prints the thread level and SIGCHLDs seen, one line for each rank. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sampler_starved.h"

static volatile sig_atomic_t children;
static void child_ended(int sig) { (void)sig; children++; }

static void compute(double ms)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    double end = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6 + ms, now;
    do {
        clock_gettime(CLOCK_MONOTONIC, &t);
        now = (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
    } while (now < end);
}

static void idle(double ms)
{
    struct timespec t = {(time_t)(ms / 1e3), (long)(ms * 1e6) % 1000000000L};
    nanosleep(&t, NULL);
}

int main(int argc, char **argv)
{
    int rounds = atoi(argv[1]), n = atoi(argv[2]), rank, level;
    double ms = atof(argv[3]);
    char byte[8] = {0};
    signal(SIGCHLD, child_ended);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int before = children;
    double starved_before = starved();
    for (int k = 0; k < rounds; k++) {
        for (int i = 0; rank == 0 && i < n; i++)
            MPI_Send(byte, sizeof byte, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank >= 2)
            compute(ms);
        else
            idle(ms);
        for (int i = 0; rank == 1 && i < n; i++)
            MPI_Recv(byte, sizeof byte, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Query_thread(&level);
    printf("rank %d level %d children %d+%d\n", rank, level, before, children - before);
    printf("rank %d starved %.1f\n", rank, starved() - starved_before);
    fflush(stdout);
    MPI_Finalize();
    return 3 * rank;
}
