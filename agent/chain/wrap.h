/* wrap.h: what the generated wrappers are made of: the way of a call into the chain and out of it.
 *
 * Included by wrappers.c only, with mpi.h. A wrapper does nothing but jump, all registers untouched, the way that chain.c has
 * chosen for its function (chain_ways): to the next symbol of its name where it has no flag; to due_MPI_X, which counts down and
 * jumps on, while all that is wanted of it is the sampler's countdown; to light_MPI_X or timed_MPI_X, which only count; or to
 * whole_MPI_X, which also does where only calls and time are counted of a function without messages. So each of these sees the
 * application's return address and stack. On the full way counted_MPI_X asks chain_enter whether the call counts: the outermost call
 * of a thread does, unless the MPI library itself makes it, and an inner one does when the application makes it from a callback. */
#ifndef MPITX_WRAP_H
#define MPITX_WRAP_H

#include <mpi.h>
#include <string.h>

#include "life/life.h"
#include "chain/internal.h"
#include "base/clock.h"
#include "mpi/describe.h"
#include "tools/tally/tally.h"

#define EXPORT __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))
#define ALWAYS_INLINE inline __attribute__((always_inline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* Whether an alert or the end of the countdown asks for a look at the clock. */
#define CHAIN_RUNS_OUT(thread) ((--(thread)->countdown | __atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED)) < 0)

/* Where nothing but the sampler's countdown is wanted, a call only counts it down. That in which it runs out goes the whole way.
 * One jump to either: with two, compilers move arguments that are on the stack. */
#define CHAIN_DUE(next, whole) (UNLIKELY(CHAIN_RUNS_OUT(&chain_thread)) ? (chain_any_function *)(whole) : (next))

#define CHAIN_CALLER(name_shifted) {__builtin_return_address(0), __builtin_dwarf_cfa(), (name_shifted)}
#define CHAIN_NEXT(caller, id) ((caller)->shifted ? chain_next_shifted[id] : chain_next[id])

/* The tables that have a place for every function. Until the next symbols are found every function has a flag. */
#define CHAIN_TABLES(count)                                                                                            \
    uint16_t chain_flags[count] = {[0 ...(count)-1] = CHAIN_FLAG_UNRESOLVED};                                           \
    uint8_t chain_enter_masks[count], chain_leave_masks[count], chain_complete_masks[count];                           \
    uint8_t chain_wants[CHAIN_OBSERVERS * (count)], chain_foreign[count];                                              \
    chain_any_function *chain_next[count], *chain_next_shifted[count];                                                 \
    struct chain_link chain_links[count];

struct chain_caller {
    const void *address; /* where the call returns to */
    const void *frame;   /* the stack above the call */
    int shifted;         /* PMPI_X */
};

struct chain_entry {
    struct chain_call call;
    struct chain_thread *thread;
    chain_any_function *tool;
    int tool_id;
    uint32_t depth;
    uint16_t flags;
};

/* Puts a call on its thread's record, if it counts; answers its depth, or CHAIN_FRAMES. */
static ALWAYS_INLINE uint32_t chain_place(struct chain_thread *thread, int id, const struct chain_caller *caller)
{
    uint32_t depth = thread->depth;
    if (LIKELY(depth == 0)) {
        if (UNLIKELY(library_calls(caller->address))) return CHAIN_FRAMES;
    } else {
        depth = chain_enter_nested(caller->address, caller->frame);
        if (depth == CHAIN_FRAMES) return CHAIN_FRAMES;
    }
    if (UNLIKELY(!thread->known)) chain_know_thread();
    thread->frames[depth] = caller->frame;
    thread->addresses[depth] = caller->address;
    thread->functions[depth] = id;
    thread->depth = depth + 1;
    return depth;
}

static ALWAYS_INLINE void chain_count_down(struct chain_thread *thread)
{
    if (UNLIKELY(CHAIN_RUNS_OUT(thread))) chain_due(thread);
}

/* Whether a look at the clock is due before an outermost call. */
static ALWAYS_INLINE bool chain_due_first(struct chain_thread *thread, unsigned flags)
{
    if (flags & CHAIN_FLAG_DUE_FIRST) return CHAIN_RUNS_OUT(thread);
    if (LIKELY(__atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED) == 0)) return false;
    return (flags & CHAIN_FLAG_DUE) != 0;
}

/* ---- the light way: nothing but counting ---- */

/* Outermost calls alone, with time stamps and without (timed), before which no sample is due: so that nothing but the application's
 * function is called, and arguments stay where they are. Others take the full way. */
static ALWAYS_INLINE bool chain_quick_possible(struct chain_thread *thread, unsigned flags, const void *address, bool timed)
{
    return LIKELY(thread->depth == 0) && LIKELY(!library_calls(address)) &&
           (LIKELY(thread->tally != NULL) || (!timed && thread->known && !(flags & CHAIN_FLAG_TALLY))) &&
           LIKELY(!chain_due_first(thread, flags));
}

static ALWAYS_INLINE void chain_quick_enter(struct chain_thread *thread, int id, const void *address, const void *frame, bool timed)
{
    thread->frames[0] = frame;
    thread->addresses[0] = address;
    thread->functions[0] = id;
    thread->depth = 1;
    if (!timed) return;
    uint64_t enter = thread->entered[0] = clock_read_counter();
    tally_enter_time(thread->tally, id, enter);
}

static ALWAYS_INLINE void chain_quick_add(uint64_t *row, bool timed, uint64_t leave, bool sent, uint64_t sent_bytes, bool received,
                                          uint64_t received_bytes)
{
    tally_add(&row[TALLY_CALLS], 1);
    if (sent) {
        tally_add(&row[TALLY_MESSAGES_SENT], 1);
        tally_add(&row[TALLY_BYTES_SENT], sent_bytes);
    }
    if (received) {
        tally_add(&row[TALLY_MESSAGES_RECEIVED], 1);
        tally_add(&row[TALLY_BYTES_RECEIVED], received_bytes);
    }
    if (timed) tally_leave_time(&row[TALLY_TIME], leave);
}

static ALWAYS_INLINE int chain_quick_leave(struct chain_thread *thread, int id, unsigned flags, int rc, bool timed, uint64_t leave,
                                           bool sent, uint64_t sent_bytes, bool received, uint64_t received_bytes)
{
    struct tally *tally = thread->tally;
    thread->depth = 0;
    if (timed || LIKELY(flags & CHAIN_FLAG_TALLY)) {
        chain_quick_add(tally->totals, timed, leave, sent, sent_bytes, received, received_bytes);
        if (UNLIKELY(tally_selected[id])) chain_quick_add(tally->rows[id], timed, leave, sent, sent_bytes, received, received_bytes);
    }
    if (flags & CHAIN_FLAG_DUE) chain_count_down(thread);
    return rc;
}

/* Of functions without messages: one place for all, as 450 pairs of their own would make the agent three times as large. Answers 0
 * where the full way must be taken. */
static NOINLINE unsigned chain_light_enter(int id, unsigned flags, const void *address, const void *frame)
{
    struct chain_thread *thread = &chain_thread;
    if (UNLIKELY(flags >= CHAIN_FLAG_FULL)) return 0;
    bool timed = flags & CHAIN_FLAG_TALLY_TIME;
    if (!chain_quick_possible(thread, flags, address, timed)) return 0;
    chain_quick_enter(thread, id, address, frame, timed);
    return flags | CHAIN_FLAG_FULL;
}

static NOINLINE int chain_light_leave(int id, unsigned flags, int rc)
{
    bool timed = flags & CHAIN_FLAG_TALLY_TIME;
    uint64_t leave = timed ? clock_read_counter() : 0;
    return chain_quick_leave(&chain_thread, id, flags, rc, timed, leave, false, 0, false, 0);
}

/* ---- the full way: the call is described to everybody who asked ---- */

/* Whether the call counts; then it is on the thread's record until chain_leave. */
static NOINLINE bool chain_enter(struct chain_entry *entry, int id, const struct chain_caller *caller)
{
    unsigned flags = chain_flags[id];
    if (UNLIKELY(flags & CHAIN_FLAG_UNRESOLVED)) {
        chain_resolve();
        flags = chain_flags[id];
        if (flags == 0) return false;
    }
    if (flags < CHAIN_FLAG_FULL) { /* the light way was not possible: tell the observer that it stands for */
        unsigned tell = flags & CHAIN_FLAGS_DUE;
        if (flags & CHAIN_FLAG_TALLY) tell |= CHAIN_FLAG_LEAVE;
        if (flags & CHAIN_FLAG_TALLY_TIME) tell |= CHAIN_FLAG_ENTER | CHAIN_FLAG_TIME;
        if (flags & CHAIN_FLAG_TALLY_BYTES) tell |= CHAIN_FLAG_DESCRIBE;
        flags = tell;
    }
    struct chain_thread *thread = &chain_thread;
    uint32_t depth = chain_place(thread, id, caller);
    if (depth == CHAIN_FRAMES) return false;
    if (depth == 0 && UNLIKELY(chain_due_first(thread, flags))) chain_due(thread);
    thread->shifted[depth] = (uint8_t)caller->shifted;
    struct chain_call *call = &entry->call; /* field by field: compilers clear structs with an instruction that takes 30 ns */
    call->function = id;
    call->nested = depth > 0;
    call->depth = (uint8_t)depth;
    call->name_shifted = (uint8_t)caller->shifted;
    call->abandoned = 0;
    call->described = (flags & CHAIN_FLAG_DESCRIBE) != 0;
    call->rc = 0;
    call->enter = call->leave = 0;
    call->address = caller->address;
    entry->thread = thread;
    entry->depth = depth;
    entry->flags = (uint16_t)flags;
    if (call->described) {
        call->description.function = id;
        call->description.completions = chain_complete_masks[id] != 0;
        call_clear(&call->description);
    }
    if (UNLIKELY(flags & CHAIN_FLAG_TOOLS)) {
        entry->tool = chain_links[id].function;
        entry->tool_id = chain_links[id].tool_id;
    }
    return true;
}

/* Just before the call goes on. */
static NOINLINE void chain_entered(struct chain_entry *entry)
{
    if (entry->flags & CHAIN_FLAG_TIME) entry->thread->entered[entry->depth] = entry->call.enter = clock_ticks();
    if (entry->flags & CHAIN_FLAG_ENTER) chain_tell_enter(&entry->call, entry->thread);
}

/* Just after it. */
static ALWAYS_INLINE void chain_left(struct chain_entry *entry)
{
    if (entry->flags & CHAIN_FLAG_TIME) entry->call.leave = clock_ticks();
}

static NOINLINE int chain_leave(struct chain_entry *entry, int rc)
{
    entry->thread->depth = entry->depth;
    entry->call.rc = rc;
    if (LIKELY(entry->flags & CHAIN_FLAG_LEAVE)) chain_tell_leave(&entry->call, entry->thread);
    if ((entry->flags & CHAIN_FLAG_DUE) && entry->depth == 0) chain_count_down(entry->thread);
    return rc;
}

/* ---- the agent's life, in the wrappers of MPI_Init and its like ---- */

static inline void agent_before_init(struct chain_entry *entry)
{
    agent_before_init_core();
    entry->call.enter = clock_ticks();
}

/* The call that starts the agent counts, and those that were entered before. */
static inline void agent_after_init(struct chain_entry *entry, int rc, int level, bool sessions)
{
    entry->call.leave = clock_ticks();
    if (!agent_after_init_core(&entry->call, rc, level, sessions) || entry->flags != CHAIN_FLAG_HOOK) return;
    entry->flags = chain_flags[entry->call.function];
    entry->thread->entered[entry->depth] = entry->call.enter;
    if (entry->flags & CHAIN_FLAG_ENTER) chain_tell_enter(&entry->call, entry->thread);
}

static inline void agent_before_finalize(struct chain_entry *entry, bool session)
{
    (void)entry;
    agent_before_finalize_core(session);
}

/* Told before everything ends. */
static inline void agent_after_finalize(struct chain_entry *entry, int rc)
{
    entry->call.rc = rc;
    if (entry->flags & CHAIN_FLAG_LEAVE) chain_tell_leave(&entry->call, entry->thread);
    entry->flags = 0;
    agent_after_finalize_core(); /* whatever rc says, MPI is over */
}

/* The application's function of this name, after the last tool: the one that the application's call would have reached. */
static inline chain_any_function *chain_last(struct chain_context context, int id)
{
    bool shifted = !(context.call && context.call->function == id && !context.call->name_shifted);
    return shifted ? chain_next_shifted[id] : chain_next[id];
}

#endif
