/* tally.h: the counters of the virtual variables: tally.c adds to them, virtual.c reads them.
 *
 * Profiles count again. Their rows have no time of running calls, are too many to add up for each sample, and leave out
 * what MPI_Pcontrol(0), --include and --exclude do. */
#ifndef MPITX_TALLY_H
#define MPITX_TALLY_H

#include "chain/chain.h"

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
    TALLY_FIELDS,
    TALLY_CPU_TIME = TALLY_FIELDS, /* these two are not counted: the kernel has them */
    TALLY_CPU_WAIT
};

/* A thread's counters; only this thread writes them. While a call runs, its time is the sum so far minus the time of
 * entry. That is negative, as no sum is as large as the clock; a reader then adds the current time. One store updates
 * both. */
struct tally {
    uint64_t totals[TALLY_FIELDS];
    struct tally *next;      /* the list of all; never freed */
    struct tally *next_free; /* for threads that have ended; the counts stay */
    uint64_t rows[][TALLY_FUNCTION_FIELDS] __attribute__((aligned(64)));
};

enum { TALLY_FUNCTIONS = 1024 };

/* What a function's calls add, in addition to TALLY_CALLS and messages in the totals. */
enum {
    TALLY_ROW = 1,      /* its own row: it has variables of its own */
    TALLY_TIMED = 2,    /* outermost calls: TALLY_TIME of the totals */
    TALLY_INIT = 4,     /* outermost calls: TALLY_INIT_TIME of the totals */
    TALLY_TRANSFERS = 8 /* requests, collectives, one-sided operations, files */
};
extern uint8_t tally_places[TALLY_FUNCTIONS];

extern const struct chain_observer tally_observer;
extern struct tally *tallies; /* of all threads */
extern uint64_t tally_count;

/* Set once a function's received bytes were taken from the posted size: it and the total are then upper bounds. */
extern bool tally_estimated;
extern uint8_t tally_estimated_by[TALLY_FUNCTIONS];

#pragma GCC visibility pop

#endif
