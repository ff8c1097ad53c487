/* tally.h: the counters behind the virtual variables, as the wrappers add to them.
 *
 * Virtual variables are an observer like any other (virtual.c). But where nobody else observes a function, its wrapper adds up
 * here directly, without describing the call to anybody: that is what makes counting cost a few nanoseconds. */
#ifndef MPITX_TALLY_H
#define MPITX_TALLY_H

#include "chain/internal.h"

#pragma GCC visibility push(hidden)

/* Fields of a row. A function's row is one cache line; the totals of a thread have more. */
enum tally_field {
    TALLY_CALLS,
    TALLY_TIME,
    TALLY_MESSAGES_SENT,
    TALLY_BYTES_SENT,
    TALLY_MESSAGES_RECEIVED,
    TALLY_BYTES_RECEIVED,
    TALLY_STARTED,
    TALLY_COMPLETED,
    TALLY_FUNCTION_FIELDS,
    TALLY_COLLECTIVES = TALLY_FUNCTION_FIELDS,
    TALLY_COLLECTIVE_SENT,
    TALLY_COLLECTIVE_RECEIVED,
    TALLY_RMA_OPERATIONS,
    TALLY_RMA_PUT,
    TALLY_RMA_GOT,
    TALLY_IO_WRITTEN,
    TALLY_IO_READ,
    TALLY_INIT_TIME,
    TALLY_FIELDS
};

/* A thread's counters, that only this thread writes. */
struct tally {
    uint64_t totals[TALLY_FIELDS];
    struct tally *next;      /* all that ever were */
    struct tally *next_free; /* of threads that ended; their counts stay */
    uint64_t rows[][TALLY_FUNCTION_FIELDS] __attribute__((aligned(64)));
};

enum { TALLY_FUNCTIONS = 1024 };

extern uint8_t tally_selected[TALLY_FUNCTIONS]; /* functions with variables of their own */
extern bool tally_total_time;

/* Bytes that a function received were taken from what was posted: its figure is an upper bound from now on, and so is the sum. */
extern bool tally_estimated;
extern uint8_t tally_estimated_by[TALLY_FUNCTIONS];

static inline void tally_estimate(int function)
{
    __atomic_store_n(&tally_estimated_by[function], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&tally_estimated, true, __ATOMIC_RELEASE);
}

/* Makes the thread's counters; NULL when there is no memory. */
struct tally *tally_new(struct chain_thread *thread);

static inline struct tally *tally_of(struct chain_thread *thread)
{
    struct tally *tally = thread->tally;
    return __builtin_expect(tally != NULL, 1) ? tally : tally_new(thread);
}

/* Other threads read these while they are written. */
static inline void tally_add(uint64_t *place, uint64_t amount)
{
    __atomic_store_n(place, __atomic_load_n(place, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

/* While an outermost call runs, the time of its thread is the sum so far minus the time at which it was entered: negative, as
 * no sum is as large as the clock. So one store says both, and a reader adds the time that it is. */
static inline void tally_enter_time(struct tally *tally, int function, uint64_t enter)
{
    if (__builtin_expect(tally_total_time, 1)) tally_add(&tally->totals[TALLY_TIME], -enter);
    if (tally_selected[function]) tally_add(&tally->rows[function][TALLY_TIME], -enter);
}

static inline void tally_leave_time(uint64_t *place, uint64_t leave)
{
    if (__builtin_expect((int64_t)*place < 0, 1)) tally_add(place, leave); /* else it was switched on in the middle of the call */
}

#pragma GCC visibility pop

#endif
