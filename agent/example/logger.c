/* logger.c: a tool that writes a line for each MPI_Send and MPI_Recv: when it began, how long it took, peer, tag,
 * bytes, caller.
 *
 *     make
 *     mpirun -n 4 mpitx run --tool ./logger.so -- ./app
 *
 * Each instance of each process writes a file of its own: logger.RANK.INSTANCE, after the prefix in the variable LOGGER
 * if that is set. docs/qmpi.md explains the routines. */
#define _GNU_SOURCE
#include <qmpi.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct log {
    pthread_mutex_t lock;
    FILE *file;
    int rank;
};

/* Opens the file at the first message, when the rank is known. NULL if it cannot be opened: the application goes on. */
static struct log *log_of(MPI_Context context, int tool_id)
{
    struct log *l = NULL;
    MPI_Get_tool_storage(context, tool_id, &l);
    pthread_mutex_lock(&l->lock);
    if (!l->file && l->rank < 0) {
        char name[4096];
        const char *prefix = getenv("LOGGER");
        QMPI_Comm_rank(context, 0, MPI_COMM_WORLD, &l->rank);
        snprintf(name, sizeof name, "%slogger.%d.%d", prefix ? prefix : "", l->rank, tool_id);
        l->file = fopen(name, "w");
    }
    pthread_mutex_unlock(&l->lock);
    return l;
}

static void write_line(struct log *l, MPI_Context context, const char *function, double begin, double end, int peer,
                       int tag, long bytes)
{
    void *address = NULL;
    Dl_info place = {0};
    MPI_Get_calling_address(context, &address); /* of the application's call, in every tool */
    dladdr(address, &place);
    if (!l->file) return;
    /* one call: lines stay whole */
    fprintf(l->file, "%.6f %.6f %s peer %d tag %d bytes %ld from %s\n", begin, end - begin, function, peer, tag, bytes,
            place.dli_sname ? place.dli_sname : "?");
}

static int log_send(MPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag,
                    MPI_Comm comm)
{
    struct log *l = log_of(context, tool_id);
    QMPI_Send_t *next;
    int next_id, size = 0;
    MPI_Get_next_tool_function(tool_id, MPI_SEND_T, (void (**)(void))&next, &next_id);
    QMPI_Type_size(context, 0, type, &size);
    double begin = QMPI_Wtime(context, 0);
    int rc = next(context, next_id, buf, count, type, dest, tag, comm);
    write_line(l, context, "MPI_Send", begin, QMPI_Wtime(context, 0), dest, tag, (long)count * size);
    return rc;
}

static int log_recv(MPI_Context context, int tool_id, void *buf, int count, MPI_Datatype type, int source, int tag,
                    MPI_Comm comm, MPI_Status *status)
{
    struct log *l = log_of(context, tool_id);
    QMPI_Recv_t *next;
    MPI_Status own;
    int next_id, bytes = 0;
    MPI_Get_next_tool_function(tool_id, MPI_RECV_T, (void (**)(void))&next, &next_id);
    if (status == MPI_STATUS_IGNORE) status = &own; /* a tool may change arguments: it wants to know what arrived */
    double begin = QMPI_Wtime(context, 0);
    int rc = next(context, next_id, buf, count, type, source, tag, comm, status);
    if (rc != MPI_SUCCESS) return rc;
    QMPI_Get_count(context, 0, status, MPI_BYTE, &bytes);
    write_line(l, context, "MPI_Recv", begin, QMPI_Wtime(context, 0), status->MPI_SOURCE, status->MPI_TAG, bytes);
    return rc;
}

static int log_finalize(MPI_Context context, int tool_id)
{
    struct log *l = NULL;
    QMPI_Finalize_t *next;
    int next_id;
    MPI_Get_tool_storage(context, tool_id, &l);
    if (l->file) fclose(l->file);
    l->file = NULL;
    MPI_Get_next_tool_function(tool_id, MPI_FINALIZE_T, (void (**)(void))&next, &next_id);
    return next(context, next_id);
}

static void begin(int tool_id)
{
    struct log *l = calloc(1, sizeof *l);
    if (!l) return; /* without functions the tool does nothing */
    pthread_mutex_init(&l->lock, NULL);
    l->rank = -1;
    MPI_Register_tool_storage(tool_id, l);
    MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))log_send);
    MPI_Register_tool_function(tool_id, MPI_RECV_T, (void (*)(void))log_recv);
    MPI_Register_tool_function(tool_id, MPI_FINALIZE_T, (void (*)(void))log_finalize);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("logger", begin);
}
