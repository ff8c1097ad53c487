/* bench_requests LIBRARY [local]: the cost of a wrapper per call on the real library, alternately through the agent and directly: a loop of
 * Irecv, Isend and Waitall to oneself, or of short local functions. Prints nanoseconds per call: direct, the added median and
 * best of many rounds, and the median of a reading of the time stamp counter in the same rounds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../test/reading.h"

enum { ROUNDS = 200, LOOPS = 2000 };
static __typeof__(MPI_Irecv) *irecvs[2];
static __typeof__(MPI_Isend) *isends[2];
static __typeof__(MPI_Waitall) *waitalls[2];
static __typeof__(MPI_Comm_rank) *ranks[2];
static __typeof__(MPI_Comm_size) *sizes[2];
static __typeof__(MPI_Type_size) *type_sizes[2];
static int local;

static double nanoseconds(struct timespec from)
{
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / (3.0 * LOOPS);
}

static double round_of(int with)
{
    struct timespec from;
    int in, out = 1;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; local && i < LOOPS; i++) {
        ranks[with](MPI_COMM_WORLD, &in);
        sizes[with](MPI_COMM_WORLD, &in);
        type_sizes[with](MPI_INT, &in);
    }
    for (int i = 0; !local && i < LOOPS; i++) {
        MPI_Request requests[2];
        irecvs[with](&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[0]);
        isends[with](&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[1]);
        waitalls[with](2, requests, MPI_STATUSES_IGNORE);
    }
    return nanoseconds(from);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double without[ROUNDS], with[ROUNDS], added[ROUNDS], readings[ROUNDS];
    MPI_Init(&argc, &argv);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD);
    irecvs[0] = dlsym(library, "PMPI_Irecv"), irecvs[1] = MPI_Irecv;
    isends[0] = dlsym(library, "PMPI_Isend"), isends[1] = MPI_Isend;
    waitalls[0] = dlsym(library, "PMPI_Waitall"), waitalls[1] = MPI_Waitall;
    ranks[0] = dlsym(library, "PMPI_Comm_rank"), ranks[1] = MPI_Comm_rank;
    sizes[0] = dlsym(library, "PMPI_Comm_size"), sizes[1] = MPI_Comm_size;
    type_sizes[0] = dlsym(library, "PMPI_Type_size"), type_sizes[1] = MPI_Type_size;
    local = argc > 2;
    for (int i = 0; i < ROUNDS; i++) {
        readings[i] = reading();
        without[i] = round_of(0);
        with[i] = round_of(1);
        added[i] = with[i] - without[i];
    }
    qsort(without, ROUNDS, sizeof *without, compare);
    qsort(with, ROUNDS, sizeof *with, compare);
    qsort(added, ROUNDS, sizeof *added, compare);
    qsort(readings, ROUNDS, sizeof *readings, compare);
    printf("%.1f %.1f %.1f %.1f\n", without[ROUNDS / 2], added[ROUNDS / 2], with[0] - without[0], readings[ROUNDS / 2]);
    MPI_Finalize();
    return 0;
}
