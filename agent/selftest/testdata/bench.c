/* bench.c: the time of a call through the agent's wrapper and of the same call directly to the library, in nanoseconds: medians of
 * alternating rounds in one run. Linked to nullmpi.c. Prints: function, direct, wrapped, added, and the difference of the fastest rounds,
 * which is reliable even on a busy machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 61, CALLS = 100000 };

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

#define MEASURE(name, direct, call, through)                                                                           \
    do {                                                                                                               \
        double one[ROUNDS], other[ROUNDS], added[ROUNDS];                                                              \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            double start = now();                                                                                      \
            for (int i = 0; i < CALLS; i++) call;                                                                      \
            double middle = now();                                                                                     \
            for (int i = 0; i < CALLS; i++) through;                                                                   \
            double end = now();                                                                                        \
            one[round] = (middle - start) / CALLS;                                                                     \
            other[round] = (end - middle) / CALLS;                                                                     \
            added[round] = other[round] - one[round];                                                                  \
        }                                                                                                              \
        qsort(one, ROUNDS, sizeof *one, compare);                                                                      \
        qsort(other, ROUNDS, sizeof *other, compare);                                                                  \
        qsort(added, ROUNDS, sizeof *added, compare);                                                                  \
        printf("%s %.2f %.2f %.2f %.2f\n", name, one[ROUNDS / 2], other[ROUNDS / 2], added[ROUNDS / 2], other[0] - one[0]);                    \
    } while (0)

int main(int argc, char **argv)
{
    int rank;
    char byte = 0;
    MPI_Status status;
    void *library = dlopen(getenv("BENCH_LIBRARY"), RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return 2;
    int (*comm_rank)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(library, "MPI_Comm_rank");
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm) =
        (int (*)(const void *, int, MPI_Datatype, int, int, MPI_Comm))dlsym(library, "MPI_Send");
    int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *) =
        (int (*)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *))dlsym(library, "MPI_Recv");
    MPI_Init(&argc, &argv);
    MEASURE("MPI_Comm_rank", comm_rank, comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MEASURE("MPI_Send", send, send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD), MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD));
    MEASURE("MPI_Recv", recv, recv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status), MPI_Recv(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &status));
    MPI_Finalize();
    return 0;
}
