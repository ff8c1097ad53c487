/* processor.h: what the processor did for each thread that calls MPI: how much of its time outside of MPI it ran,
 * waited for a core, or slept. The tools that time calls switch it on for their functions. */
#ifndef MPITX_TOOL_PROCESSOR_H
#define MPITX_TOOL_PROCESSOR_H

#include "base/processor.h"
#include "run/process.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

/* Called for each function: whether its calls count as time in MPI. False if out of memory. The tool calls
 * processor_leave when such a call ends. */
bool processor_observe(int function, bool counts);

/* Times in nanoseconds, except `last`, `read`, `inside` and `outside`, which are ticks. */
struct processor_thread {
    struct processor_row *row;    /* NULL: not started */
    bool failed, in;              /* no row could be made; the thread is in a call */
    uint64_t last;                /* when it entered or left a call */
    uint64_t read, time;          /* when it read its time, and that */
    uint64_t inside, outside;     /* since then */
    uint64_t wait;                /* at the last reading of waits; what follows is since then */
    struct processor_switches switches;
    uint64_t idle_outside_least, idle_outside_most, idle_inside_most, idle;
};
extern AGENT_THREAD struct processor_thread processor_own;
extern uint64_t processor_pace; /* ticks between readings */

void processor_read(struct processor_thread *thread, uint64_t now);

/* The thread enters or leaves MPI. */
static inline void processor_passes(struct processor_thread *thread, uint64_t now, bool enters)
{
    uint64_t *part = enters ? &thread->outside : &thread->inside;
    thread->in = enters;
    if (__builtin_expect((int64_t)(now - thread->last) < 0, 0)) return;
    *part += now - thread->last;
    thread->last = now;
    if (__builtin_expect(now - thread->read >= processor_pace, 0)) processor_read(thread, now);
}

static inline void processor_leave(const struct chain_call *call)
{
    if (call->depth > 0 || !call->enter || !processor_own.in) return;
    processor_passes(&processor_own, call->abandoned ? call->enter : call->leave, false);
}

#pragma GCC visibility pop

#endif
