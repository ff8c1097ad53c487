/* sites.c: where the application calls MPI.
 *
 * The caller's return address is known. If it is in a binding of the library for another language, or in a wrapper, the
 * stack has to be walked. The unwinder takes a microsecond for that. So the distance from the stack pointer at a call in
 * a binding to the binding's own return address is remembered: compilers give most functions frames of a fixed size. sites_check
 * verifies it for each call site found. */
#include "chain/unwind.h"
#include "mpi/library.h"
#include "tools/profile/profile.h"

enum { LEVELS = 512, VARIABLE = 0 };

/* By return address in a binding: the address in the upper 48 bits, and the distance in words in the lower 16.
 * VARIABLE: it is not constant. */
static uint64_t levels[LEVELS];

void sites_start(void)
{
    if (profile_stack == 0 || (profile_stack == 1 && !library_has_between())) return;
    if (!chain_unwind_start())
        agent_report(MPITX_RUN_WARNING, "call sites are those in the library's bindings and in wrappers: libgcc_s.so.1 is missing");
}

/* ---- the unwinder ---- */

static void remember(const struct chain_frame *inner, const struct chain_frame *outer)
{
#if defined(__x86_64__)
    uintptr_t words = (outer->pointer - inner->pointer) / sizeof(uintptr_t);
    uint64_t *level = &levels[inner->address % LEVELS], known = __atomic_load_n(level, __ATOMIC_RELAXED);
    if (words == 0 || words > UINT16_MAX) words = VARIABLE;
    if (known >> 16 == inner->address && (known & UINT16_MAX) != words) words = VARIABLE;
    __atomic_store_n(level, (uint64_t)inner->address << 16 | words, __ATOMIC_RELAXED);
#else
    (void)inner, (void)outer;
#endif
}

static __attribute__((noinline)) void unwind(const struct chain_call *call, uint64_t *stack)
{
    struct chain_frame frames[PROFILE_STACK_MOST + CHAIN_BETWEEN];
    unsigned first = 0, count = chain_unwind(call, frames, profile_stack + CHAIN_BETWEEN);
    while (first + 1 < count && library_is_between(frames[first].address)) {
        remember(&frames[first], &frames[first + 1]);
        first++;
    }
    for (unsigned i = 0; i < profile_stack; i++) stack[i] = first + i < count ? frames[first + i].address : 0;
}

/* ---- call sites ---- */

/* The application's return address by remembered distances, or 0. */
static uintptr_t caller_of(const struct chain_call *call)
{
    uintptr_t address = (uintptr_t)call->address, pointer = (uintptr_t)call->frame;
    for (int deep = 0; deep < CHAIN_BETWEEN && library_is_between(address); deep++) {
        uint64_t level = __atomic_load_n(&levels[address % LEVELS], __ATOMIC_RELAXED);
        if (level >> 16 != address || (level & UINT16_MAX) == VARIABLE) return 0;
        pointer += (level & UINT16_MAX) * sizeof(uintptr_t);
        address = ((const uintptr_t *)pointer)[-1];
    }
    return address;
}

void sites_walk(const struct chain_call *call, uint64_t *stack)
{
    if (profile_stack == 1 && !call->abandoned && (stack[0] = caller_of(call))) return;
    unwind(call, stack);
}

void sites_check(const struct chain_call *call, uint64_t *stack)
{
    if (profile_stack == 1 && library_is_between((uintptr_t)call->address)) unwind(call, stack);
}
