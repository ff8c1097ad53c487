/* sampler_overhead pingpong|compute…|threads|wake… SECONDS MS INTERVAL: does the same work alternately without and with the agent, MS
 * milliseconds each, so that both run in the same conditions. Without the agent means that the library's own functions are called and
 * sampler_inside.c has paused the sampler. Rank 0 prints the nanoseconds of a round without and with it for each two blocks,
 * and of a reading of the time stamp counter.
 *
  * pingpong: ranks 0 and 1 exchange 8 bytes. compute…: ranks compute without MPI. threads: the same with a thread for each further core; a
  * round is one of all threads. wake…: computes too, but a thread that only wakes up every INTERVAL ms replaces the agent, to measure the
  * machine itself. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "reading.h"

enum mode { STOP, WITHOUT, WITH };

static __typeof__(MPI_Send) *sends[3];
static __typeof__(MPI_Recv) *receives[3];
static void (*stop_sampler)(int);
static int rank;
static volatile double x = 1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Does one round. Rank 0 sends the mode of the next one to all. */
static enum mode trip(enum mode mode, enum mode next)
{
    char bytes[8] = {(char)next};
    if (rank == 0) {
        sends[mode](bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        receives[mode](bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        receives[mode](bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sends[mode](bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    }
    return (enum mode)bytes[0];
}

static void work(void)
{
    for (int i = 0; i < 2000; i++) x = x * 1.0000001 + 1e-9;
}

static _Atomic long others; /* rounds of the other threads */

static void *compute(void *unused)
{
    for (;;) {
        work();
        others++;
    }
    return unused;
}

static _Atomic long wake_ns; /* 0: off */
static sem_t woken;

static void *wake(void *unused)
{
    (void)unused;
    struct timespec t;
    for (;;) {
        while (wake_ns == 0) sem_wait(&woken);
        clock_gettime(CLOCK_MONOTONIC, &t);
        while (wake_ns) {
            t.tv_nsec += wake_ns;
            t.tv_sec += t.tv_nsec / 1000000000;
            t.tv_nsec %= 1000000000;
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
        }
    }
    return NULL;
}

/* Runs a block and returns the nanoseconds of a round. All ranks end it together: by a message of rank 0, or by the clock. */
static double block(enum mode mode, int exchange, long bare, double end)
{
    long rounds = 0;
    stop_sampler(mode == WITHOUT || bare);
    wake_ns = mode == WITH ? bare : 0;
    sem_post(&woken);
    if (exchange) trip(mode, mode);
    double start = now(), at = start;
    long before = others;
    while (exchange && trip(mode, at < end ? mode : STOP) == mode)
        if (rank == 0 && ++rounds % 32 == 0) at = now();
    for (; !exchange && at < end; at = now(), rounds++) work();
    rounds += others - before;
    return rounds + exchange > 0 ? (now() - start) / (double)(rounds + exchange) : 0;
}

int main(int argc, char **argv)
{
    int exchange = argc == 5 && strcmp(argv[1], "pingpong") == 0;
    long bare = strncmp(argv[1], "wake", 4) == 0 ? (long)(atof(argv[4]) * 1e6) : 0;
    double length = atof(argv[3]) * 1e6, begin;
    pthread_t thread;
    void *(*library)(const char *) = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "agenttest_library");
    stop_sampler = (void (*)(int))dlsym(RTLD_DEFAULT, "agenttest_stop");
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long i = 1; strcmp(argv[1], "threads") == 0 && i < sysconf(_SC_NPROCESSORS_ONLN); i++) pthread_create(&thread, NULL, compute, NULL);
    sends[WITH] = MPI_Send;
    receives[WITH] = MPI_Recv;
    sends[WITHOUT] = (__typeof__(sends[0]))library("MPI_Send");
    receives[WITHOUT] = (__typeof__(receives[0]))library("MPI_Recv");
    sem_init(&woken, 0, 0);
    if (bare) pthread_create(&thread, NULL, wake, NULL);
    begin = now();
    MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    long pairs = (long)(atof(argv[2]) * 1e9 / 2 / length);
    for (long i = 0; i < pairs && (rank < 2 || !exchange); i++) {
        double without = block(WITHOUT, exchange, bare, begin + length * (double)(2 * i + 1));
        double with = block(WITH, exchange, bare, begin + length * (double)(2 * i + 2));
        if (rank == 0 && without > 0 && with > 0) printf("%.1f %.1f %.1f\n", without, with, reading()); /* 0: no processor time */
    }
    MPI_Finalize();
    return x < 0;
}
