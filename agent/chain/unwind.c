#include "chain/unwind.h"

#include <dlfcn.h>
#include <unwind.h>

#include "mpi/library.h"

enum { INNERMOST = 64 }; /* frames of the agent */

static __typeof__(_Unwind_Backtrace) *backtrace;
static __typeof__(_Unwind_GetIP) *get_address;
static __typeof__(_Unwind_GetCFA) *get_cfa;

bool chain_unwind_start(void)
{
    /* not linked: programs without it shall not load it */
    void *library = backtrace ? NULL : dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return backtrace != NULL;
    get_address = (__typeof__(get_address))dlsym(library, "_Unwind_GetIP");
    get_cfa = (__typeof__(get_cfa))dlsym(library, "_Unwind_GetCFA");
    if (get_address && get_cfa) backtrace = (__typeof__(backtrace))dlsym(library, "_Unwind_Backtrace");
    return backtrace != NULL;
}

struct walk {
    const struct chain_call *call;
    struct chain_frame *frames;
    unsigned count, most, inner;
};

/* The first frames are the agent's own. */
static _Unwind_Reason_Code visit(struct _Unwind_Context *context, void *argument)
{
    struct walk *walk = argument;
    struct chain_frame frame = {get_address(context), get_cfa(context)};
    if (walk->count == 0 &&
        (frame.pointer != (uintptr_t)walk->call->frame || frame.address != (uintptr_t)walk->call->address))
        return ++walk->inner < INNERMOST ? _URC_NO_REASON : _URC_END_OF_STACK;
    walk->frames[walk->count++] = frame;
    return walk->count < walk->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

unsigned chain_unwind(const struct chain_call *call, struct chain_frame *frames, unsigned most)
{
    struct walk walk = {.call = call, .frames = frames, .most = most};
    if (backtrace && !call->abandoned && most > 0) backtrace(visit, &walk);
    if (walk.count == 0) frames[walk.count++] = (struct chain_frame){(uintptr_t)call->address, (uintptr_t)call->frame};
    return walk.count;
}

void chain_sites(const struct chain_call *call, uint64_t *stack, unsigned most)
{
    struct chain_frame frames[CHAIN_SITES + CHAIN_BETWEEN];
    bool walks = most > 1 || library_is_between((uintptr_t)call->address);
    unsigned first = 0, count = walks ? chain_unwind(call, frames, most + CHAIN_BETWEEN) : 0;
    stack[0] = (uintptr_t)call->address;
    while (first + 1 < count && library_is_between(frames[first].address)) first++;
    for (unsigned i = 0; i < most && first + i < count; i++) stack[i] = frames[first + i].address;
}
