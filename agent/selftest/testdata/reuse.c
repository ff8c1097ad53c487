/* Handles that the library reuses in one thread while the call of another thread that released them is still returning; see slow_tool.c.
 * Two processes; the second one only answers. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { LONG_ENOUGH = 100000 };

static pthread_barrier_t barrier;
static MPI_Request request, before;
static char to[1000], from[1000];

static void *receive(void *argument)
{
    MPI_Irecv(to, sizeof to, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    before = request;
    pthread_barrier_wait(&barrier);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return argument;
}

static void *forget(void *argument)
{
    MPI_Send_init(from, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    before = request;
    pthread_barrier_wait(&barrier);
    MPI_Request_free(&request);
    return argument;
}

/* When this returns, the other thread is still returning from its last call. */
static void begin(pthread_t *thread, void *(*other)(void *))
{
    pthread_create(thread, NULL, other, NULL);
    pthread_barrier_wait(&barrier);
    usleep(LONG_ENOUGH);
}

static void end(pthread_t thread, MPI_Request *mine, int last)
{
    printf("%d%c", *mine == before, last ? '\n' : ' ');
    pthread_join(thread, NULL);
    MPI_Wait(mine, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int provided, rank;
    pthread_t thread;
    MPI_Request mine;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided != MPI_THREAD_MULTIPLE) return 2;
    if (rank == 1) {
        MPI_Send(from, 1000, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        usleep(2 * LONG_ENOUGH);
        MPI_Recv(to, 7, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, 20, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    pthread_barrier_init(&barrier, NULL, 2);

    begin(&thread, receive);
    MPI_Issend(from, 7, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &mine);
    end(thread, &mine, 0);

    begin(&thread, forget);
    MPI_Irecv(to, 20, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &mine);
    end(thread, &mine, 1);
    MPI_Finalize();
    return 0;
}
