/* null_tool.c: a function tool that passes MPI_Send on, and asks for the next function in each call.
 *
 *     mpicc -shared -fPIC $(mpitx tools --cflags) -o null_tool.so null_tool.c */
#include <qmpi.h>
#include <stdlib.h>

static int null_send(MPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    QMPI_Send_t *next;
    int next_id;
    void *sends;
    MPI_Get_tool_storage(context, tool_id, &sends);
    ++*(long *)sends;
    MPI_Get_next_tool_function(tool_id, MPI_SEND_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, buf, count, type, dest, tag, comm);
}

static void init(int tool_id)
{
    MPI_Register_tool_storage(tool_id, calloc(1, sizeof(long)));
    MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))null_send);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("null", init);
}
