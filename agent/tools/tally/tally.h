/* tally.h: the counters behind the virtual variables: tally.c adds to them, virtual.c reads them. */
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
    TALLY_FIELDS
};

/* A thread's counters, that only this thread writes. While a call runs, a time is the sum so far minus the time at which it was
 * entered: negative, as no sum is as large as the clock. So one store says both, and a reader adds the time that it is. */
struct tally {
    uint64_t totals[TALLY_FIELDS];
    struct tally *next;      /* all that ever were */
    struct tally *next_free; /* of threads that ended; their counts stay */
    uint64_t rows[][TALLY_FUNCTION_FIELDS] __attribute__((aligned(64)));
};

enum { TALLY_FUNCTIONS = 1024 };

/* What a function's calls add besides TALLY_CALLS and messages of the totals. */
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

/* Bytes that a function received were taken from what was posted: its figure is an upper bound from now on, and so is the sum. */
extern bool tally_estimated;
extern uint8_t tally_estimated_by[TALLY_FUNCTIONS];

#pragma GCC visibility pop

#endif
