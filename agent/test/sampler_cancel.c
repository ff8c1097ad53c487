/* sampler_cancel.c: cancels threads asynchronously in local MPI calls, which libraries survive because those calls take no locks. Sends
 * messages between the cancellations. Prints their number. */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static atomic_int at_work;

static void *work(void *unused)
{
    int value;
    (void)unused;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &value);
    for (at_work = 1;;) {
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
        MPI_Type_size(MPI_INT, &value);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, value = 1, other, count = argc > 1 ? atoi(argv[1]) : 200;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        at_work = 0;
        if (pthread_create(&thread, NULL, work, NULL) != 0) return 3;
        while (!at_work) nanosleep(&(struct timespec){0, 10000}, NULL);
        nanosleep(&(struct timespec){0, 1000 * (i % 100)}, NULL);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    printf("%d\n", count);
    return 0;
}
