/* resolve.c: finds the functions that the wrappers forward to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "base/agent.h"
#include "chain/internal.h"

/* Stands for a function that the library lacks. A program linked with the library cannot call it. */
static int missing(void)
{
    return 16; /* MPI_ERR_OTHER or MPI_ERR_UNKNOWN, an error in any case */
}

static void resolve(int function)
{
    char name[64] = "P";
    snprintf(name + 1, sizeof name - 1, "%s", chain_functions[function].name);
    void *next = library_symbol(name + 1), *shifted = library_symbol(name);
    if (!next) next = shifted;
    if (!shifted) shifted = next;
    if (next) chain_tool_after[function] = library_is_tool(next);
    if (!next) next = shifted = (void *)missing;
    chain_next[function][0] = (chain_any_function *)next;
    chain_next[function][1] = (chain_any_function *)shifted;
}

static void follow(void)
{
    if (library.other_family) chain_owner->other_family(library.path);
    chain_set_flags();
}

void chain_resolve(void)
{
    if (chain_resolved) return;
    library_find();
    for (int i = 0; i < chain_function_count; i++) resolve(i);
    agent_process.library = library.path;
    agent_process.loaded_later = library.loaded_later;
    chain_resolved = true;
    library_bind();
    follow();
    dlerror();
}

bool chain_follows(void *init, const char *path)
{
    if (chain_resolved) return init == library_function("MPI_Init");
    return library_prefer(path);
}

void chain_resolve_early(void)
{
    if (chain_resolved)
        follow();
    else if (library_is_linked())
        chain_resolve();
    dlerror(); /* a symbol not found here is not the program's error */
}
