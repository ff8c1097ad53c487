/* sampler_overhead pingpong|compute… SECONDS MS: the same work without the agent and with it, in turn, MS milliseconds each: so close
 * together that both meet the same machine. Without it means that the library's own functions are called, and that sampler_inside.c
 * has stopped the sampler. Rank 0 prints, for each two blocks, the nanoseconds of a round without and with it.
 *
 * pingpong: ranks 0 and 1 exchange 8 bytes. compute…: no rank calls MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* One round; rank 0 says of which mode the next one is, and all know it afterwards. */
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

/* A block; the nanoseconds of a round. All ranks end it together: by rank 0's word, or by the clock. */
static double block(enum mode mode, int exchange, double end)
{
    long rounds = 0;
    stop_sampler(mode == WITHOUT);
    if (exchange) trip(mode, mode);
    double start = now(), at = start;
    while (exchange && trip(mode, at < end ? mode : STOP) == mode)
        if (rank == 0 && ++rounds % 32 == 0) at = now();
    for (; !exchange && at < end; at = now(), rounds++) work();
    return (now() - start) / (double)(rounds + exchange);
}

int main(int argc, char **argv)
{
    int exchange = argc == 4 && strcmp(argv[1], "pingpong") == 0;
    double length = atof(argv[3]) * 1e6, begin;
    void *(*library)(const char *) = (void *(*)(const char *))dlsym(RTLD_DEFAULT, "sampler_library");
    stop_sampler = (void (*)(int))dlsym(RTLD_DEFAULT, "sampler_stop");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sends[WITH] = MPI_Send;
    receives[WITH] = MPI_Recv;
    sends[WITHOUT] = (__typeof__(sends[0]))library("MPI_Send");
    receives[WITHOUT] = (__typeof__(receives[0]))library("MPI_Recv");
    begin = now();
    MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    long pairs = (long)(atof(argv[2]) * 1e9 / 2 / length);
    for (long i = 0; i < pairs && (rank < 2 || !exchange); i++) {
        double without = block(WITHOUT, exchange, begin + length * (double)(2 * i + 1));
        double with = block(WITH, exchange, begin + length * (double)(2 * i + 2));
        if (rank == 0) printf("%.1f %.1f\n", without, with);
    }
    MPI_Finalize();
    return x < 0;
}
