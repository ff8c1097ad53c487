/* sites.c: where the application calls MPI. The stack is walked only if a binding for another language makes the
 * call. */
#include "chain/unwind.h"
#include "mpi/library.h"
#include "tools/trace/trace.h"

enum { BINDINGS_DEEP = 8 };

void trace_sites_start(void)
{
    if (library_binding_count && !chain_unwind_start())
        agent_report(MPITX_RUN_WARNING, "call sites are those in the library's bindings: libgcc_s.so.1 is missing");
}

static __attribute__((noinline)) uint64_t walk(const struct chain_call *call)
{
    struct chain_frame frames[BINDINGS_DEEP + 1];
    unsigned first = 0, count = chain_unwind(call, frames, BINDINGS_DEEP + 1);
    while (first + 1 < count && library_is_binding(frames[first].address)) first++;
    return first < count ? frames[first].address : (uintptr_t)call->address;
}

uint64_t trace_site(const struct chain_call *call)
{
    uintptr_t address = (uintptr_t)call->address;
    return __builtin_expect(library_is_binding(address), 0) && !call->abandoned ? walk(call) : address;
}
