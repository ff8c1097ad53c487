/* sampler_rates ROUNDS MS: ROUNDS times, with pauses, calls MPI_Comm_dup, which takes MS milliseconds. Most of that time passes in an
 * MPI_Reduce_local called by its callback, and in an MPI_Reduce_local called by that operation. Prints the duration of MPI_Init and of the
 * rounds in nanoseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int milliseconds;
static MPI_Op op;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void nap(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static void slow(void *in, void *inout, int *len, MPI_Datatype *type)
{
    static int depth;
    int one = 1, two = 2;
    (void)in, (void)inout, (void)len, (void)type;
    if (depth++ == 0)
        MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
    else
        nap(milliseconds);
    depth--;
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    int one = 1, two = 2;
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
    *flag = 0;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int key;
    long long start = now(), init, rounds = 0;
    MPI_Init(&argc, &argv);
    init = now() - start;
    milliseconds = atoi(argv[2]);
    MPI_Op_create(slow, 1, &op);
    MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    for (int i = 0; i < atoi(argv[1]); i++) {
        MPI_Comm dup;
        start = now();
        MPI_Comm_dup(MPI_COMM_SELF, &dup);
        rounds += now() - start;
        MPI_Comm_free(&dup);
        nap(3);
    }
    printf("%lld %lld\n", init, rounds);
    MPI_Finalize();
    return 0;
}
