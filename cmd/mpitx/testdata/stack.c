/* stack.c: calls MPI from a known chain of functions, for the tests of `mpitx where --stack`: stack FILE.
 *
 * Rank 0 waits in outer, middle, inner. Rank 1 waits in a function with a stack of variable size, called by one with an aligned stack. Rank
 * 2 waits in a thread. Rank 3 calls MPI now here and now there until FILE exists, and then computes. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile int after; /* what follows a call, so that none is the last thing that its function does */

static NOINLINE void inner(int tag)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* inner */
    after++;
}

static NOINLINE void middle(int tag)
{
    volatile char room[4000];
    memset((char *)room, 1, sizeof room);
    inner(tag + room[0]); /* middle */
    after += room[1];
}

static NOINLINE void outer(int tag)
{
    middle(tag); /* outer */
    after++;
}

static NOINLINE void variable(int bytes)
{
    volatile char room[bytes];
    memset((char *)room, 1, (size_t)bytes);
    inner(room[bytes - 1]); /* variable */
    after += room[0];
}

static NOINLINE void aligned(int bytes)
{
    volatile char room[64] __attribute__((aligned(64)));
    memset((char *)room, bytes, sizeof room);
    variable(bytes + (int)((size_t)room % 64)); /* aligned */
    after += room[0];
}

static void *run(void *unused)
{
    outer(1); /* run */
    after++;
    return unused;
}

static NOINLINE void here(void)
{
    int value = 0;
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* here */
    after++;
}

static NOINLINE void there(void)
{
    here(); /* there */
    after++;
}

int main(int argc, char **argv)
{
    int rank, level;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) outer(1); /* main */
    if (rank == 1) aligned(999); /* main */
    if (rank == 2 && pthread_create(&thread, NULL, run, NULL) == 0) pthread_join(thread, NULL);
    for (int i = 0; i % 1024 || access(argv[1], F_OK) != 0; i++)
        if (i % 2)
            here(); /* main */
        else
            there(); /* main */
    for (;; after++) continue;
}
