/* solver.c: a program whose MPI calls are known, for the tests of mpitx profile.
 *
 * Four ranks. Phase 1 ("exchange"): STEPS times a message of 1000 bytes to the next rank on a copy of MPI_COMM_WORLD with a name, and an
 * MPI_Allreduce of 8 bytes. Phase 2 ("gather"): rank r sends r messages of 100 bytes to rank 0. In the phase "wait" within it, rank 3
 * waits for rank 2, which computes. With an argument, it creates the file of that name and waits to be killed. With a second one, it does
 * the steps of phase 1 twice more as soon as the file of that name exists. STEP_US in the environment is the least time of a step of
 * phase 1 in microseconds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpitx.h"

enum { STEPS = 50 };

static void compute(double seconds)
{
    volatile double x = 1;
    struct timespec t0, t;
    clock_gettime(CLOCK_MONOTONIC, &t0);
    do {
        x = x * 1.0001;
        clock_gettime(CLOCK_MONOTONIC, &t);
    } while ((double)(t.tv_sec - t0.tv_sec) + 1e-9 * (double)(t.tv_nsec - t0.tv_nsec) < seconds);
}

static void exchange(int rank, int size, MPI_Comm ring)
{
    char data[1000] = "";
    double one = 1, sum;
    MPI_Request requests[2];
    const char *pause_us = getenv("STEP_US");
    for (int i = 0; i < STEPS; i++) {
        if (pause_us) usleep((useconds_t)atoi(pause_us));
        MPI_Irecv(data, sizeof data, MPI_CHAR, (rank + size - 1) % size, 1, ring, &requests[0]);
        MPI_Isend(data, sizeof data, MPI_CHAR, (rank + 1) % size, 1, ring, &requests[1]); /* line: send */
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, ring);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    char data[1000] = "";
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &ring);
    MPI_Comm_set_name(ring, "ring");
    mpitx_phase_begin("exchange");
    exchange(rank, size, ring);
    mpitx_phase_end();
    mpitx_phase_begin("gather");
    for (int i = 0; i < rank; i++)
        MPI_Send(data, 100, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size * (size - 1) / 2; i++)
        MPI_Recv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mpitx_phase_begin("wait");
    if (rank == 2) {
        compute(0.4);
        MPI_Send(data, 1, MPI_CHAR, 3, 3, MPI_COMM_WORLD);
    }
    if (rank == 3)
        MPI_Recv(data, 1, MPI_CHAR, 2, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* line: wait */
    mpitx_phase_end();
    MPI_Barrier(MPI_COMM_WORLD);
    mpitx_phase_end();
    if (argc > 1) {
        FILE *ready = rank == 0 ? fopen(argv[1], "w") : NULL;
        if (ready) fclose(ready);
        if (argc > 2) {
            while (access(argv[2], F_OK) != 0)
                usleep(10000);
            exchange(rank, size, ring);
            exchange(rank, size, ring);
        }
        for (;;)
            pause();
    }
    MPI_Finalize();
    return 0;
}
