/* states [threads|die]: calls whose number, progress and collectives are known. Each thread's state is that of its outermost call. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

static jmp_buf back;
static char byte, other;

static void leave(MPI_Comm *comm, int *code, ...) { longjmp(back, 1); }

/* A call within a call: it does not change the state. */
static void add(void *in, void *out, int *count, MPI_Datatype *type)
{
    int flag;
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void *one_call(void *unused)
{
    MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    return NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm copy;
    MPI_Errhandler handler;
    MPI_Op op;
    MPI_Request request;
    int flag, level, rank, sum, known = 1;
    int threads = argc > 1 && argv[1][0] == 't', dies = argc > 1 && !threads;
    MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* no state */
    for (int i = 0; i < 20 && threads; i++) { /* their rows are used again */
        pthread_t thread;
        pthread_create(&thread, NULL, one_call, NULL);
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 3; i++) MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD); /* 3 calls */
    for (int i = 0; i < 5; i++) MPI_Iprobe(0, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);    /* 5, no progress */
    MPI_Irecv(&other, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, &request); /* 1 */
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);                 /* 1, no progress */
    MPI_Send(&byte, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF);            /* 1 */
    MPI_Wait(&request, MPI_STATUS_IGNORE);                        /* 1 */
    MPI_Comm_dup(MPI_COMM_SELF, &copy);                           /* 1 */
    for (int i = 0; i < 4; i++) MPI_Barrier(copy);                /* 4 */
    MPI_Op_create(add, 1, &op);
    MPI_Allreduce(MPI_IN_PLACE, &known, 1, MPI_INT, op, MPI_COMM_WORLD); /* 1 */
    MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    if (threads) /* libraries do not release their locks */
        MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 1, MPI_COMM_WORLD); /* 1 */
    else if (!setjmp(back))
        MPI_Send(&byte, 1, MPI_CHAR, 1 << 20, 1, MPI_COMM_WORLD); /* 1: left by longjmp */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 7, MPI_COMM_WORLD); /* 1 */
    if (fork() == 0) { /* a child changes nothing */
        for (int i = 0; i < 3; i++) MPI_Send(&byte, 1, MPI_CHAR, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
        _exit(0);
    }
    if (dies) abort();
    MPI_Finalize(); /* 1 */
    return 0;
}
