/* null_tool.c: a function tool that passes every call on, as a model for other tools. The interface is that of the QMPI draft.
 *
 *     mpicc -shared -fPIC -I agent -o null_tool.so null_tool.c
 *
 * The agent loads it in MPI_Init because of the configuration line tool=/path/null_tool.so. Its functions receive the arguments of calls
 * and decide whether to call the next tool, and with which arguments. The last one in the chain is the MPI library. */
#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>

#include "chain/chain.h"

static const struct chain_tools *chain;
static int send_id, pcontrol_id;

/* The tool's state, one for each time it is loaded; static variables would be shared. */
struct storage {
    long sends;
    int level;
};

static struct storage *storage_of(struct chain_context context, int tool_id)
{
    void *storage = NULL;
    chain->get_storage(context, tool_id, &storage);
    return storage;
}

typedef int send_function(struct chain_context, int, const void *, int, MPI_Datatype, int, int, MPI_Comm);

static int null_send(struct chain_context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    chain_any_function *next;
    int next_id;
    storage_of(context, tool_id)->sends++;
    chain->get_function(tool_id, send_id, &next, &next_id);
    return ((send_function *)next)(context, next_id, buf, count, type, dest, tag, comm);
}

typedef int pcontrol_function(struct chain_context, int, const int, ...);

/* The arguments after the level are a convention between the application and its tools; pass on all that this tool may know. */
static int null_pcontrol(struct chain_context context, int tool_id, const int level, ...)
{
    chain_any_function *next;
    int next_id;
    va_list more;
    va_start(more, level);
    void *first = va_arg(more, void *);
    va_end(more);
    va_start(more, level);
    double number = va_arg(more, double);
    va_end(more);
    storage_of(context, tool_id)->level = level;
    chain->get_function(tool_id, pcontrol_id, &next, &next_id);
    return ((pcontrol_function *)next)(context, next_id, level, first, number);
}

int mpitx_tool_init(const struct chain_tools *tools, int tool_id);
int mpitx_tool_init(const struct chain_tools *tools, int tool_id)
{
    if (tools->version != CHAIN_TOOLS_VERSION) return 1; /* the agent skips the tool and writes a note */
    struct storage *storage = calloc(1, sizeof *storage);
    if (!storage || tools->register_storage(tool_id, storage) != 0) return 2;
    chain = tools;
    send_id = tools->function_id("MPI_Send");
    pcontrol_id = tools->function_id("MPI_Pcontrol");
    if (tools->register_function(tool_id, send_id, (chain_any_function *)null_send) != 0) return 3;
    return tools->register_function(tool_id, pcontrol_id, (chain_any_function *)null_pcontrol);
}
