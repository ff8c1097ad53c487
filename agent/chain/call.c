/* call.c: entering and leaving counted calls, abandoned calls. */
#include "base/clock.h"
#include "chain/internal.h"
#include "mpi/describe_state.h"

#define NOINLINE __attribute__((noinline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

AGENT_THREAD struct chain_thread chain_thread;
uint64_t chain_long = UINT64_MAX;
int32_t chain_alert_sign;
uint64_t chain_lost_frames;
static void (*inner_call)(int function, const struct chain_call *outer);

_Static_assert(offsetof(struct chain_thread, countdown) == 4, "stubs.h counts it down");

void chain_report_enter(const struct chain_call *call)
{
    for (const struct chain_observer *const *o = chain_observers[call->function].enter; *o; o++) (*o)->enter(call);
}

void chain_report_leave(const struct chain_call *call)
{
    for (const struct chain_observer *const *o = chain_observers[call->function].leave; *o; o++) (*o)->leave(call);
}

/* Ends the calls that longjmp, an exception or cancellation left, innermost first. live: the calls that remain. */
static void abandon(struct chain_thread *thread, uint32_t live)
{
    while (thread->depth > live) {
        struct chain_call *call = &thread->calls[--thread->depth];
        call->abandoned = 1;
        if (!call->described) call_clear(&call->description);
        call->described = 0;
        call->rc = -1;
        if (call->flags & CHAIN_FLAG_TIME) call->leave = clock_ticks();
        if (chain_running() && (call->flags & CHAIN_FLAG_LEAVE)) chain_report_leave(call);
    }
    if (live == 0) describe_abandon();
}

/* For a thread that is already in a counted call: ends the calls that were left, and returns the depth of the new call,
 * or CHAIN_FRAMES if the new call does not count. */
static NOINLINE uint32_t enter_nested(struct chain_thread *thread, const void *address, const void *frame)
{
    uint32_t live = thread->depth;
    for (; live > 0; live--) {
        const struct chain_call *outer = &thread->calls[live - 1];
        if (chain_is_nested(frame, outer->frame, outer->address)) break;
    }
    if (live < thread->depth) abandon(thread, live);
    if (live == 0) return library_calls(address) ? CHAIN_FRAMES : 0;
    const struct chain_call *outer = &thread->calls[live - 1];
    if ((outer->flags & CHAIN_FLAG_TOOLS) && !outer->within) return CHAIN_FRAMES; /* a tool calls MPI by a plain name */
    if (library_is_inside(address)) return CHAIN_FRAMES;
    if (live == CHAIN_FRAMES) __atomic_fetch_add(&chain_lost_frames, 1, __ATOMIC_RELAXED);
    return live;
}

static void end_thread(void)
{
    abandon(&chain_thread, 0);
    chain_thread.watched = 0;
}

static inline __attribute__((always_inline)) bool runs_out(struct chain_thread *thread)
{
    return (--thread->countdown | __atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED)) < 0;
}

static NOINLINE struct chain_call *due(struct chain_thread *thread, struct chain_call *call)
{
    void (*then)(struct chain_thread *) = __atomic_load_n(&chain_due, __ATOMIC_ACQUIRE);
    thread->countdown = INT32_MAX;
    if (then) then(thread);
    return call;
}

/* Whether a sample is due before an outermost call. */
static inline __attribute__((always_inline)) bool due_first(struct chain_thread *thread, unsigned flags)
{
    if (flags & CHAIN_FLAG_DUE_FIRST) return runs_out(thread);
    return UNLIKELY(__atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED) != 0) && (flags & CHAIN_FLAG_DUE);
}

/* Whether a sample is due after an outermost call. */
static inline __attribute__((always_inline)) bool due_last(struct chain_thread *thread, unsigned flags)
{
    if (flags & CHAIN_FLAG_DUE) return runs_out(thread);
    return UNLIKELY(__atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED) != 0) && (flags & CHAIN_FLAG_DUE_FIRST);
}

/* Until the depth counts this call, a call in a signal handler takes the same place: then it is filled in again. */
static inline struct chain_call *take(struct chain_thread *thread, uint32_t depth, int function, int shifted,
                                      const void *address, const void *frame)
{
    unsigned flags = chain_flags[function];
    struct chain_call *call = &thread->calls[depth];
    do {
        call->frame = frame; /* first, so that it is another one if any part of the place was taken */
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        call->address = address;
        call->enter = call->leave = 0;
        call->function = call->description.function = function;
        call->flags = (uint16_t)flags;
        call->depth = (uint8_t)depth;
        call->shifted = (uint8_t)shifted;
        call->within = call->abandoned = 0;
        call->described = (flags & CHAIN_FLAG_DESCRIBE) != 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a call in a signal handler reads all outer calls */
        thread->depth = depth + 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    } while (UNLIKELY(call->frame != frame));
    if (flags & CHAIN_FLAG_DESCRIBE) {
        call_clear(&call->description);
        call->description.completions = (flags & CHAIN_FLAG_COMPLETIONS) != 0;
    }
    return depth == 0 && UNLIKELY(due_first(thread, flags)) ? due(thread, call) : call;
}

/* A call that the library makes itself. */
static NOINLINE struct chain_call *pass_inner(const struct chain_thread *thread, int function)
{
    void (*then)(int, const struct chain_call *) = __atomic_load_n(&inner_call, __ATOMIC_ACQUIRE);
    if (then && chain_running()) then(function, thread->depth ? &thread->calls[thread->depth - 1] : NULL);
    return NULL;
}

/* Whether a function that tools intercept is called by a tool's thread, or is a conversion in a Fortran interface. */
static inline bool passes_tools(int function, const void *address)
{
    return library_is_tools((uintptr_t)address) ||
           (chain_functions[function].kind == CALL_CONVERSION && library_is_binding((uintptr_t)address));
}

/* For a thread's first call, and for nested calls. */
static NOINLINE struct chain_call *enter_slowly(struct chain_thread *thread, int function, int shifted,
                                                const void *address, const void *frame)
{
    if (chain_flags[function] & CHAIN_FLAG_UNRESOLVED) chain_resolve();
    if ((chain_flags[function] & CHAIN_FLAG_START) && !chain_start_tools(function, address)) return NULL;
    if (chain_flags[function] == 0 || ((chain_flags[function] & CHAIN_FLAG_TOOLS) && passes_tools(function, address)))
        return NULL;
    uint32_t depth = thread->depth ? enter_nested(thread, address, frame) : library_calls(address) ? CHAIN_FRAMES : 0;
    if (depth == CHAIN_FRAMES)
        return thread->depth < CHAIN_FRAMES || library_is_inside(address) ? pass_inner(thread, function) : NULL;
    if (!thread->watched) chain_at_thread_end(end_thread);
    thread->watched = 1;
    return take(thread, depth, function, shifted, address, frame);
}

struct chain_call *chain_enter(int function, int shifted, const void *address, const void *frame)
{
    struct chain_thread *thread = &chain_thread;
    unsigned flags = chain_flags[function];
    if (UNLIKELY(thread->depth > 0 || !thread->watched || flags == 0 ||
                 (flags & (CHAIN_FLAG_UNRESOLVED | CHAIN_FLAG_START))))
        return enter_slowly(thread, function, shifted, address, frame);
    if (UNLIKELY(library_calls(address))) return pass_inner(thread, function);
    if ((flags & CHAIN_FLAG_TOOLS) && UNLIKELY(passes_tools(function, address))) return NULL;
    return take(thread, 0, function, shifted, address, frame);
}

void chain_begin(struct chain_call *call)
{
    if (call->flags & CHAIN_FLAG_TIME) call->enter = clock_ticks();
    if (call->flags & CHAIN_FLAG_ENTER) chain_report_enter(call);
}

void chain_take_times(const struct chain_call *call)
{
    struct chain_call *taken = &chain_thread.calls[call->depth];
    if (taken->flags & CHAIN_FLAG_TIME) return;
    taken->flags |= CHAIN_FLAG_TIME;
    taken->enter = clock_ticks();
}

int chain_leave(struct chain_call *call, int rc)
{
    struct chain_thread *thread = &chain_thread;
    call->rc = rc;
    if (LIKELY(call->flags & CHAIN_FLAG_LEAVE)) chain_report_leave(call);
    thread->depth = call->depth;
    if (call->depth == 0 && UNLIKELY(due_last(thread, call->flags))) due(thread, call);
    return rc;
}

void chain_report_long(uint64_t ticks) { chain_long = ticks; }

void chain_follow_inner(void (*inner)(int function, const struct chain_call *outer))
{
    __atomic_store_n(&inner_call, inner, __ATOMIC_RELEASE);
}

void chain_alert(bool on) { __atomic_store_n(&chain_alert_sign, on ? -1 : 0, __ATOMIC_RELAXED); }

bool chain_is_alerted(void) { return __atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED) != 0; }
