/* Handles that the library reuses in one thread while the call of another thread that released them is still returning; see slow_tool.c.
 * Two processes; the second one only answers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t *returned, *resume;
static MPI_Request request, before;
static char to[1000], from[1000];

static void *receive(void *argument)
{
    MPI_Irecv(to, sizeof to, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &request);
    before = request;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return argument;
}

static void *forget(void *argument)
{
    MPI_Send_init(from, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, &request);
    before = request;
    MPI_Request_free(&request);
    return argument;
}

/* When this returns, the library has returned from the other thread's last call, and the tool has not. */
static void begin(pthread_t *thread, void *(*other)(void *))
{
    pthread_create(thread, NULL, other, NULL);
    while (sem_wait(returned)) continue;
}

static void end(pthread_t thread, MPI_Request *mine, int last)
{
    printf("%d%c", *mine == before, last ? '\n' : ' ');
    sem_post(resume);
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
        MPI_Recv(to, 7, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, 20, MPI_CHAR, 0, 4, MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    returned = dlsym(RTLD_DEFAULT, "slow_tool_returned");
    resume = dlsym(RTLD_DEFAULT, "slow_tool_continue");
    if (!returned || !resume) return 3;

    begin(&thread, receive);
    MPI_Issend(from, 7, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &mine);
    end(thread, &mine, 0);

    begin(&thread, forget);
    MPI_Irecv(to, 20, MPI_CHAR, 1, 4, MPI_COMM_WORLD, &mine);
    end(thread, &mine, 1);
    MPI_Finalize();
    return 0;
}
