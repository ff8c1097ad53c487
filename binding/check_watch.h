/* The error handler, the threads and the messages of rules. mpitx check has this text in its binary, too, for the programs that it writes. */
#include <pthread.h>

static int errors; /* calls of the error handler */

static void count_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    errors++;
}

static struct {
    MPI_T_cvar_handle handle;
    int times, code[2];
    pthread_barrier_t start;
    char buf[2][1 << 17];
} reads;

static void *read_thread(void *code)
{
    int *mine = code;
    pthread_barrier_wait(&reads.start);
    for (int i = 0; i < reads.times && *mine == MPI_SUCCESS; i++) *mine = MPI_T_cvar_read(reads.handle, reads.buf[mine - reads.code]);
    return NULL;
}

/* Reads a variable in one or two other threads, at the same time, and returns the first error. */
static int read_in_threads(MPI_T_cvar_handle handle, int threads, int times)
{
    pthread_t ids[2];
    reads.handle = handle, reads.times = times, reads.code[0] = reads.code[1] = MPI_SUCCESS;
    pthread_barrier_init(&reads.start, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++) pthread_create(&ids[i], NULL, read_thread, &reads.code[i]);
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
    return reads.code[0] != MPI_SUCCESS ? reads.code[0] : reads.code[1];
}

/* Messages of this process to itself, which move performance variables. */
static int work_alone(void)
{
    static int out[4], in[4];
    MPI_Request sends[4], receive;
    for (int i = 0; i < 4; i++) MPI_Isend(&out[i], (int)sizeof out[i], MPI_BYTE, 0, i, MPI_COMM_SELF, &sends[i]);
    for (int i = 3; i >= 0; i--) {
        MPI_Irecv(&in[i], (int)sizeof in[i], MPI_BYTE, 0, i, MPI_COMM_SELF, &receive);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 4; i++) MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    return MPI_SUCCESS;
}
