/* life.c: calls before MPI_Init, in it, after MPI_Finalize and in a child of fork. With an argument, threads make the first calls at once. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t together;

static void *first(void *argument)
{
    int flag;
    pthread_barrier_wait(&together);
    MPI_Initialized(&flag);
    return argument;
}

int main(int argc, char **argv)
{
    int flag, version, level, rank, value = 1, other;
    MPI_Request request;
    pthread_t threads[8];
    if (argc > 1) {
        pthread_barrier_init(&together, NULL, 8);
        for (int i = 0; i < 8; i++) pthread_create(&threads[i], NULL, first, NULL);
        for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
        return 0;
    }
    MPI_Initialized(&flag);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    MPI_Init(&argc, &argv);
    double time = MPI_Wtime();
    if (MPI_Wtick() <= 0 || PMPI_Wtime() < time || time < 0) return 1;
    if (MPI_Aint_add(5, 3) != 8) return 2;
    if ((MPI_File_f2c)((MPI_File_c2f)(MPI_FILE_NULL)) != MPI_FILE_NULL) return 3;
    MPI_Irecv(&other, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    pid_t child = fork();
    if (child == 0) {
        MPI_Get_version(&version, &version);
        _exit(0);
    }
    waitpid(child, &flag, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    MPI_Finalized(&flag);
    printf("symbols %d\n", dlsym(RTLD_DEFAULT, "MPI_Register_tool_name") || dlsym(RTLD_DEFAULT, "QMPI_Send"));
    return !flag;
}
