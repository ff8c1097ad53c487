/* Four threads that send to themselves, and short-lived threads. One process. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 500, MORE = 50 };

static void *work(void *argument)
{
    int tag = (int)(intptr_t)argument, value = tag, other;
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Irecv(&other, 1, MPI_INT, 0, tag, MPI_COMM_SELF, &request);
        MPI_Send(&value, 1, MPI_INT, 0, tag, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

static void *once(void *argument)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return argument;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) return 2;
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < MORE; i++) {
        pthread_create(&threads[0], NULL, once, NULL);
        pthread_join(threads[0], NULL);
    }
    puts("done");
    MPI_Finalize();
    return 0;
}
