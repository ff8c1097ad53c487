/* A tool with the interface of the QMPI draft, which also checks storage, context and the order of tools. */
#include <qmpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct storage {
    int sends, id;
};

#define NEXT(function, number) QMPI_##function##_t *next; int next_id; \
    if (MPI_Get_next_tool_function(tool_id, number, (void (**)(void))&next, &next_id) != MPI_SUCCESS) abort()

static int my_send(MPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    void *data, *address;
    QMPI_Type_size_t *size;
    int size_id, bytes;
    MPI_Get_tool_storage(context, tool_id, &data);
    ((struct storage *)data)->sends++;
    if (MPI_Get_calling_address(context, &address) != MPI_SUCCESS || !address) abort();
    MPI_Get_next_tool_function(tool_id, MPI_TYPE_SIZE_T, (void (**)(void))&size, &size_id);
    size(context, size_id, type, &bytes);
    NEXT(Send, MPI_SEND_T);
    return next(context, next_id, buf, count, type, dest, tag, comm);
}

/* Passes the level on, and the arguments that belong to level 7. */
static int my_pcontrol(MPI_Context context, int tool_id, const int level, ...)
{
    va_list more;
    va_start(more, level);
    const char *word = level == 7 ? va_arg(more, const char *) : "";
    double number = level == 7 ? va_arg(more, double) : 0;
    long last = level == 7 ? va_arg(more, long) : 0;
    va_end(more);
    printf("tool %d: level %d %s %g %ld\n", tool_id, level, word, number, last);
    fflush(stdout);
    NEXT(Pcontrol, MPI_PCONTROL_T);
    return next(context, next_id, level, word, number, last + 1);
}

static int my_finalize(MPI_Context context, int tool_id)
{
    void *data;
    MPI_Get_tool_storage(context, tool_id, &data);
    printf("tool %d of %d: %d sends\n", tool_id, ((struct storage *)data)->id, ((struct storage *)data)->sends);
    fflush(stdout);
    NEXT(Finalize, MPI_FINALIZE_T);
    return next(context, next_id);
}

static void init(int tool_id)
{
    struct storage *storage = calloc(1, sizeof *storage);
    storage->id = tool_id;
    MPI_Register_tool_storage(tool_id, storage);
    MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))my_send);
    MPI_Register_tool_function(tool_id, MPI_PCONTROL_T, (void (*)(void))my_pcontrol);
    MPI_Register_tool_function(tool_id, MPI_FINALIZE_T, (void (*)(void))my_finalize);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("sends", init);
}
