/* outside.c: what ranks do outside of MPI, and how they end, for the tests of `mpitx where`: outside KIND FILE. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *computes(void *unused)
{
    for (volatile long i = 0;; i++) continue;
    return unused;
}

static void *sleeps(void *unused)
{
    for (;; usleep(1000)) continue;
    return unused;
}

static void waits(void)
{
    struct timespec far = {4000000000, 0};
    pthread_mutex_lock(&mutex);
    for (;;) pthread_cond_timedwait(&never, &mutex, &far);
}

static void reads(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) != 0) abort();
}

int main(int argc, char **argv)
{
    int rank, value = 1, sum;
    pthread_t thread;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!strcmp(argv[1], "exits")) {
        if (rank == 1) {
            while (access(argv[2], F_OK) != 0) usleep(1000);
            exit(0);
        }
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0 || rank == 2) pthread_create(&thread, NULL, rank == 0 ? sleeps : computes, NULL);
    switch (rank) {
    case 0: computes(NULL); break;
    case 1: sleeps(NULL); break;
    case 2: waits(); break;
    case 3: reads(); break;
    }
    MPI_Finalize();
    return 0;
}
