/* wrap.h: the parts of the generated wrappers. Included by wrappers.c only, with mpi.h. */
#ifndef MPITX_WRAP_H
#define MPITX_WRAP_H

#include <mpi.h>
#include <string.h>

#include "base/clock.h"
#include "chain/internal.h"
#include "chain/stubs.h"
#include "chain/messages.h"
#include "mpi/describe.h"
#include "mpi/follow.h"
#include "mpi/posted.h"

#define EXPORT __attribute__((visibility("default")))
#define NOINLINE __attribute__((noinline))

/* Tables with one element per function. Until the next symbols are found, every function has a flag. */
#define CHAIN_TABLES(count)                                                                                            \
    uint16_t chain_flags[count] = {[0 ...(count)-1] = CHAIN_FLAG_UNRESOLVED};                                          \
    struct chain_observers chain_observers[count] = {[0 ...(count)-1] = {chain_nobody, chain_nobody, chain_nobody}};   \
    uint8_t chain_tool_after[count];                                                                                   \
    chain_any_function *chain_next[count][2];                                                                          \
    chain_any_function *chain_after_countdown[count][2];                                                               \
    uint64_t chain_state_words[count];                                                                                 \
    struct chain_link chain_links[count];                                                                              \
    const int chain_function_count = count;                                                                            \
    _Static_assert(2 * (count) <= CHAIN_DOORS, "each function has two doors");

#define CHAIN_ENTER(function, shifted)                                                                                 \
    chain_enter(function, shifted, __builtin_return_address(0), __builtin_dwarf_cfa())

/* Called before and after the next symbol or tool. */
static inline void chain_before_next(struct chain_call *record)
{
    if (record->flags & (CHAIN_FLAG_TIME | CHAIN_FLAG_ENTER)) chain_begin(record);
}

static inline void chain_after_next(struct chain_call *record)
{
    if (!(record->flags & CHAIN_FLAG_TIME)) return;
    record->leave = clock_ticks();
    record->description.lasted = record->leave - record->enter >= chain_long;
}

/* ---- states: the wrapper fills in the arguments between chain_state_open and chain_state_opened ---- */

/* The row's sequence follows from `calls`: incrementing both takes twice as long, as each waits for the call before.
 * Never 0. */
static inline uint32_t chain_state_sequence(uint64_t calls) { return (uint32_t)(2 * calls) | UINT32_C(1) << 31; }

static inline __attribute__((always_inline)) struct chain_state *chain_state_open(int function, const void *address,
    const void *frame)
{
    struct chain_state *state = chain_state_thread.state;
    if (__builtin_expect(!state || state->inside, 0) && !(state = chain_state_find(address, frame))) return NULL;
    uint64_t calls = state->calls + 1;
    __atomic_store_n(&state->sequence, chain_state_sequence(calls) - 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(&state->function, &chain_state_words[function], 8);
    state->inside = 1;
    state->address = (uint64_t)(uintptr_t)address;
    state->calls = calls;
    state->frame = (uint64_t)(uintptr_t)frame;
    return state;
}

#define CHAIN_STATE(function) chain_state_open(function, __builtin_return_address(0), __builtin_dwarf_cfa())

static inline __attribute__((always_inline)) void chain_state_opened(struct chain_state *state)
{
    __atomic_store_n(&state->sequence, chain_state_sequence(state->calls), __ATOMIC_RELEASE);
}

/* Not the state of chain_state_open: its memory may be gone after MPI_Finalize. */
static inline __attribute__((always_inline)) void chain_state_close(bool progress)
{
    struct chain_state *state = chain_state_thread.state;
    if (progress) state->progress++;
    __atomic_store_n(&state->inside, 0, __ATOMIC_RELEASE);
    if (__builtin_expect(state->nested != 0, 0)) chain_state_return(state);
}

static inline uint64_t chain_state_count(uint32_t kind, uint64_t object)
{
    if (!object /* MPICH's MPI_FILE_NULL, and what no object is */ || chain_state_thread.object != object ||
        chain_state_thread.epoch != epochs_now(object)) return chain_state_collective(kind, object);
    return ++chain_state_thread.collectives->count; /* two threads may not be in collective calls on one object */
}

/* After chain_state_count for this call. */
static inline void chain_state_entered(const struct chain_state *state, int32_t root)
{
    struct chain_collectives *collectives = chain_state_thread.collectives;
    uint32_t number = (uint32_t)state->collective, i = number % CHAIN_RECENT;
    if (!number) return;
    collectives->function[i] = state->function;
    collectives->root[i] = root;
    collectives->number[i] = number;
}

/* After a collective call that failed. */
static inline void chain_state_failed(void)
{
    if (chain_state_thread.collectives) chain_state_thread.collectives->failed++;
}

/* After a call that polls. */
static inline void chain_state_tested(bool found)
{
    struct chain_state *state = chain_state_thread.state;
    if (found)
        state->tests |= CHAIN_TEST_FOUND; /* if it was not progress: else it does not apply */
    else
        chain_state_test(state);
}

static inline void chain_state_made(MPI_Request request, uint64_t object)
{
    uint32_t number = (uint32_t)chain_state_thread.state->collective;
    chain_state_persistent(object, number, false);
    posted_number(HANDLE_NUMBER(request), number);
}

static inline void chain_state_operation(uint64_t window, int32_t target)
{
    chain_state_thread.window = window;
    chain_state_thread.target = target;
}

/* The request of a read that has just been started. */
static inline void chain_state_read_request(uint64_t request)
{
    chain_state_thread.read_request = chain_state_thread.repeated ? request : 0;
}

/* Whether the call completes a read that repeats an earlier one. */
static inline bool chain_state_repeats(const struct chain_state *state)
{
    return __builtin_expect(chain_state_thread.read_request != 0, 0) &&
           state->request == chain_state_thread.read_request;
}

static inline void chain_state_completed(struct chain_state *state)
{
    if (__builtin_expect(chain_state_thread.reading, 0)) chain_state_reads_end(state);
}

/* An epoch that only repeats reads is not progress. */
static inline bool chain_state_unlocked(struct chain_state *state)
{
    chain_state_completed(state);
    bool repeated = chain_state_thread.repeated;
    chain_state_thread.repeated = false;
    return !repeated;
}

/* ---- start and end of the agent, in the wrappers of MPI_Init and similar functions ---- */

static inline void chain_before_init(struct chain_call *record)
{
    record->reached = 0;
    chain_owner->before_init();
    record->enter = clock_ticks();
}

/* A call that initializes MPI succeeds although nothing is initialized if a tool does not call the next function. */
static inline int chain_started(const struct chain_call *record, int rc, bool sessions)
{
    if (rc != MPI_SUCCESS || !(record->flags & CHAIN_FLAG_TOOLS) || record->reached ||
        (!sessions && library_is_initialized()))
        return rc;
    return CHAIN_NOT_REACHED;
}

/* Counts the call that starts the agent, and initializing calls that were entered before that. */
static inline void chain_after_init(struct chain_call *record, int rc, int level, bool sessions)
{
    record->leave = clock_ticks();
    if (!chain_owner->after_init(record, rc, level, sessions) || (record->flags & ~CHAIN_FLAG_TOOLS) != CHAIN_FLAG_HOOK)
        return;
    record->flags = chain_flags[record->function];
    if (record->flags & CHAIN_FLAG_ENTER) chain_report_enter(record);
}

/* Reports the call to observers before the agent ends. */
static inline void chain_after_finalize(struct chain_call *record, int rc)
{
    record->rc = rc;
    if (record->flags & CHAIN_FLAG_LEAVE) chain_report_leave(record);
    record->flags = 0;
    chain_owner->after_finalize(); /* whatever rc says, MPI is over */
}

/* The last tool has called the library, and the library has returned. */
static inline void chain_reach(struct chain_context context)
{
    struct chain_call *call = (struct chain_call *)context.call;
    if (!call) return;
    call->reached = 1;
    call->within++;
}

static inline void chain_return(struct chain_context context)
{
    if (context.call) ((struct chain_call *)context.call)->within--;
}

/* The function after the last tool: MPI_X or PMPI_X, as the application called it. */
static inline chain_any_function *chain_last(struct chain_context context, int function)
{
    return chain_next[function][!(context.call && context.call->function == function && !context.call->shifted)];
}

#endif
