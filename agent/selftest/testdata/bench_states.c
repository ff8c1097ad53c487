/* bench_states.c LIBRARY: the time of calls through the agent's wrappers and of the same calls directly to the real library, in
 * nanoseconds: medians of alternating rounds in one run. Prints: calls, direct, through the wrapper, added, and the difference of the
 * fastest rounds, per MPI call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 41, CALLS = 20000 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define DIRECT(name) __typeof__(MPI_##name) *direct_##name = (__typeof__(MPI_##name) *)dlsym(library, "PMPI_" #name)

#define MEASURE(name, number, call, through)                                                                           \
    do {                                                                                                               \
        double one[ROUNDS], other[ROUNDS], added[ROUNDS];                                                              \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            double start = now();                                                                                      \
            for (int i = 0; i < CALLS; i++) call;                                                                      \
            double middle = now();                                                                                     \
            for (int i = 0; i < CALLS; i++) through;                                                                   \
            double end = now();                                                                                        \
            one[round] = (middle - start) / CALLS / number;                                                            \
            other[round] = (end - middle) / CALLS / number;                                                            \
            added[round] = other[round] - one[round];                                                                  \
        }                                                                                                              \
        qsort(one, ROUNDS, sizeof *one, compare);                                                                      \
        qsort(other, ROUNDS, sizeof *other, compare);                                                                  \
        qsort(added, ROUNDS, sizeof *added, compare);                                                                  \
        printf("%s %.2f %.2f %.2f %.2f\n", name, one[ROUNDS / 2], other[ROUNDS / 2], added[ROUNDS / 2], other[0] - one[0]); \
    } while (0)

int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_LAZY | RTLD_NOLOAD);
    MPI_Comm world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Request request;
    MPI_Status status;
    char byte = 0, to = 0;
    int rank;
    if (!library) return 2;
    DIRECT(Comm_rank);
    DIRECT(Send);
    DIRECT(Recv);
    DIRECT(Isend);
    DIRECT(Wait);
    DIRECT(Allreduce);
    MPI_Init(&argc, &argv);
    MEASURE("Comm_rank", 1, direct_Comm_rank(world, &rank), MPI_Comm_rank(world, &rank));
    MEASURE("Send", 1, direct_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world), MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world));
    MEASURE("Recv", 1, direct_Recv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world, &status), MPI_Recv(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world, &status));
    MEASURE("Isend,Wait", 2, (direct_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world, &request), direct_Wait(&request, &status)),
            (MPI_Isend(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, world, &request), MPI_Wait(&request, &status)));
    MEASURE("Allreduce", 1, direct_Allreduce(&byte, &to, 1, MPI_CHAR, MPI_MAX, self), MPI_Allreduce(&byte, &to, 1, MPI_CHAR, MPI_MAX, self));
    MPI_Finalize();
    return 0;
}
