/* counter.c: a tool that counts calls and bytes of MPI_Send and MPI_Isend, and prints them in MPI_Finalize.
 *
 *     make
 *     mpirun -n 4 mpitx run --tool ./counter.so -- ./app
 *
 * A tool registers a name, gets a number for each time that the user asks for it, keeps its data in its storage, and
 * passes each call on to the next tool, at last to the MPI library. docs/qmpi.md explains the routines. */
#include <qmpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The data of one instance. Threads may call MPI at the same time. */
struct counter {
    atomic_ulong calls, bytes;
};

static struct counter *counter_of(MPI_Context context, int tool_id)
{
    struct counter *c = NULL;
    MPI_Get_tool_storage(context, tool_id, &c);
    return c;
}

static void count(MPI_Context context, int tool_id, int elements, MPI_Datatype type)
{
    struct counter *c = counter_of(context, tool_id);
    int size = 0;
    QMPI_Type_size(context, 0, type, &size); /* QMPI_X is the library's function: no tool sees this call */
    atomic_fetch_add(&c->calls, 1);
    atomic_fetch_add(&c->bytes, (unsigned long)elements * (unsigned long)size);
}

static int send(MPI_Context context, int tool_id, const void *buf, int elements, MPI_Datatype type, int dest, int tag,
                MPI_Comm comm)
{
    QMPI_Send_t *next;
    int next_id;
    count(context, tool_id, elements, type);
    MPI_Get_next_tool_function(tool_id, MPI_SEND_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, buf, elements, type, dest, tag, comm);
}

static int isend(MPI_Context context, int tool_id, const void *buf, int elements, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    QMPI_Isend_t *next;
    int next_id;
    count(context, tool_id, elements, type);
    MPI_Get_next_tool_function(tool_id, MPI_ISEND_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, buf, elements, type, dest, tag, comm, request);
}

static int finalize(MPI_Context context, int tool_id)
{
    struct counter *c = counter_of(context, tool_id);
    QMPI_Finalize_t *next;
    int next_id, rank = 0;
    QMPI_Comm_rank(context, 0, MPI_COMM_WORLD, &rank);
    fprintf(stderr, "counter: rank %d sent %lu messages, %lu bytes\n", rank, atomic_load(&c->calls),
            atomic_load(&c->bytes));
    MPI_Get_next_tool_function(tool_id, MPI_FINALIZE_T, (void (**)(void))&next, &next_id);
    return next(context, next_id);
}

/* Once for each instance. */
static void begin(int tool_id)
{
    struct counter *c = calloc(1, sizeof *c);
    if (!c) return; /* without functions the tool does nothing */
    MPI_Register_tool_storage(tool_id, c);
    MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))send);
    MPI_Register_tool_function(tool_id, MPI_ISEND_T, (void (*)(void))isend);
    MPI_Register_tool_function(tool_id, MPI_FINALIZE_T, (void (*)(void))finalize);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("counter", begin);
}
