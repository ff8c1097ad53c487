/* threads.c: the threads that record, and whether anything is recorded. */
#include "base/memory.h"
#include "tools/trace/trace.h"

struct mpitx_run *trace_recording, *trace_run;
uint64_t trace_interrupting;
AGENT_THREAD struct trace_thread *trace_thread;
struct trace_thread *trace_threads;
static struct trace_thread *free_threads;
static bool taking;

/* A thread that has ended, or NULL. Two threads do not wait for each other: one of them gets a new one. */
static struct trace_thread *reuse(void)
{
    if (__atomic_exchange_n(&taking, true, __ATOMIC_ACQUIRE)) return NULL;
    struct trace_thread *thread = __atomic_load_n(&free_threads, __ATOMIC_ACQUIRE);
    while (thread &&
           !__atomic_compare_exchange_n(&free_threads, &thread, thread->next_free, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_ACQUIRE))
        continue;
    __atomic_store_n(&taking, false, __ATOMIC_RELEASE);
    return thread;
}

__attribute__((noinline)) struct trace_thread *trace_thread_new(void)
{
    struct trace_thread *new = reuse();
    if (!new) {
        if (!(new = memory_new(1, sizeof *new))) return NULL;
        new->next = __atomic_load_n(&trace_threads, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&trace_threads, &new->next, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
            continue;
    }
    for (int i = 0; i < TRACE_SLOTS; i++) new->slots[i].chunk = 0;
    new->stream = -1;
    new->recorded = new->held = NULL;
    new->level_phase = 0;
    new->object.handle = 0;
    return trace_thread = new;
}

void trace_thread_end(void)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = trace_thread;
    if (!thread) return;
    if (to && thread->stream >= 0) mpitx_run_thread_end(to, thread->stream);
    order_leave(thread);
    thread->next_free = __atomic_load_n(&free_threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&free_threads, &thread->next_free, thread, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
    trace_thread = NULL;
}
