/* A tool with the interface of the QMPI draft, which also checks storage, context and the order of tools. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "chain/chain.h"

struct storage {
    int sends, id;
};

static const struct chain_tools *chain;

static int send(struct chain_context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    void *data, *address;
    int (*next)(struct chain_context, int, const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*size)(struct chain_context, int, MPI_Datatype, int *);
    int next_id, bytes;
    chain->get_storage(context, tool_id, &data);
    ((struct storage *)data)->sends++;
    if (chain->get_calling_address(context, &address) != 0 || !address) abort();
    chain->get_function(tool_id, chain->function_id("MPI_TYPE_SIZE_T"), (chain_any_function **)&size, &next_id);
    size(context, next_id, type, &bytes);
    chain->get_function(tool_id, chain->function_id("MPI_Send"), (chain_any_function **)&next, &next_id);
    return next(context, next_id, buf, count, type, dest, tag, comm);
}

/* Passes the level on, and the arguments that belong to level 7. */
static int pcontrol(struct chain_context context, int tool_id, const int level, ...)
{
    int (*next)(struct chain_context, int, const int, ...);
    int next_id;
    va_list more;
    va_start(more, level);
    const char *word = level == 7 ? va_arg(more, const char *) : "";
    double number = level == 7 ? va_arg(more, double) : 0;
    long last = level == 7 ? va_arg(more, long) : 0;
    va_end(more);
    printf("tool %d: level %d %s %g %ld\n", tool_id, level, word, number, last);
    fflush(stdout);
    chain->get_function(tool_id, chain->function_id("MPI_Pcontrol"), (chain_any_function **)&next, &next_id);
    return next(context, next_id, level, word, number, last + 1);
}

static int finalize(struct chain_context context, int tool_id)
{
    void *data;
    int (*next)(struct chain_context, int);
    int next_id;
    chain->get_storage(context, tool_id, &data);
    printf("tool %d of %d: %d sends\n", tool_id, ((struct storage *)data)->id, ((struct storage *)data)->sends);
    fflush(stdout);
    chain->get_function(tool_id, chain->function_id("MPI_Finalize"), (chain_any_function **)&next, &next_id);
    return next(context, next_id);
}

int mpitx_tool_init(const struct chain_tools *tools, int tool_id);
int mpitx_tool_init(const struct chain_tools *tools, int tool_id)
{
    struct storage *storage = calloc(1, sizeof *storage);
    if (tools->version != CHAIN_TOOLS_VERSION) return 1;
    chain = tools;
    storage->id = tool_id;
    tools->register_storage(tool_id, storage);
    if (tools->register_function(tool_id, tools->function_id("MPI_Send"), (chain_any_function *)send) != 0) return 2;
    if (tools->register_function(tool_id, tools->function_id("MPI_Pcontrol"), (chain_any_function *)pcontrol) != 0) return 3;
    return tools->register_function(tool_id, tools->function_id("MPI_Finalize"), (chain_any_function *)finalize);
}
