/* frames.c: whether a call is still in progress, from the frames of its caller and of a later one. */
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>

#include "chain/internal.h"

/* Whether a call was left although the thread's stack is now deeper than it was in the call: its return address has
 * been overwritten. A stack that was unmapped is not read. */
static bool overwritten(const void *frame, const void *address)
{
#if defined(__x86_64__)
    const uintptr_t page = 4096;
    const void *const *place = (const void *const *)frame - 1;
    unsigned char resident;
    int saved = errno;
    if ((uintptr_t)place / page != (uintptr_t)&resident / page &&
        mincore((void *)((uintptr_t)place & ~(page - 1)), page, &resident) != 0) {
        errno = saved;
        return false;
    }
    return *place != address;
#else
    (void)frame;
    (void)address;
    return false;
#endif
}

/* Whether a frame belongs to a signal handler on its own stack that has interrupted the outer frame. */
static bool interrupts(const void *frame, const void *outer)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK)) return false;
    uintptr_t start = (uintptr_t)stack.ss_sp;
    return (uintptr_t)frame - start <= stack.ss_size && (uintptr_t)outer - start > stack.ss_size;
}

bool chain_is_nested(const void *frame, const void *outer_frame, const void *outer_address)
{
    return (frame < outer_frame || interrupts(frame, outer_frame)) && !overwritten(outer_frame, outer_address);
}
