/* resolve.c: where the application's calls go on to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "base/agent.h"
#include "chain/internal.h"

bool chain_resolved;

/* What a function answers that the library does not have: nobody who links to it can call it. */
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
    if (next) chain_foreign[function] = library_is_tool(next);
    if (!next) next = shifted = (void *)missing;
    chain_next[function][0] = (chain_any_function *)next;
    chain_next[function][1] = (chain_any_function *)shifted;
}

static void follow(void)
{
    if (library.foreign) chain_owner->foreign(library.path);
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

/* In the constructor: if no library is there for all, several can come. */
void chain_watch_libraries(void)
{
    if (!library_is_linked()) chain_open_doors();
    dlerror();
}

/* In the constructor: only where MPI is there already. Constructors of others may have called MPI before. */
void chain_resolve_early(void)
{
    if (chain_resolved)
        follow();
    else if (library_is_linked())
        chain_resolve();
    dlerror(); /* what we looked for in vain is nobody's error */
}
