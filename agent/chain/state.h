/* state.h: what each thread does now: the MPI call that it is in, or that it was in last, with its arguments.
 *
 * A thread changes its state in place at each call, without a clock, a lock or a system call, so that readers outside
 * of the process see it while the process runs, hangs or is dead. Functions that cannot wait and move nothing
 * (MPI_Comm_rank) are left out. Calls that the library itself makes are part of the outermost call. Calls by a callback
 * of the application have a state of their own, with the level at which they are nested. */
#ifndef MPITX_STATE_H
#define MPITX_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/agent.h"

#pragma GCC visibility push(hidden)

/* Which members of struct chain_state apply to a function; bits 16 to 23 are its enum call_kind. */
enum chain_argument {
    CHAIN_COMM = 1, CHAIN_WINDOW = 2, CHAIN_FILE = 4, /* the kind of object */
    CHAIN_DESTINATION = 8, CHAIN_SOURCE = 16, CHAIN_ROOT = 32, CHAIN_TARGET = 64, /* the kind of peer */
    CHAIN_TAG = 128,
    CHAIN_EXCHANGE = 256, /* source and source_tag: it sends to peer and receives from source */
    CHAIN_BYTES = 512,
    CHAIN_REQUEST = 1024, CHAIN_REQUESTS = 2048, /* one request; an array */
    CHAIN_COLLECTIVE = 4096, /* each process of comm calls it, in the same order */
    CHAIN_POLLS = 8192,      /* it returns at once if nothing has happened */
    CHAIN_ARGUMENT_KIND = 16
};

enum { CHAIN_TESTS = 8, CHAIN_RECENT = 8, CHAIN_PERSISTENT = 4 };
#define CHAIN_TEST_FOUND (UINT32_C(1) << 31) /* a probe has found a message since */

/* A row of a table in the run: it starts like struct mpitx_run_row. */
struct chain_state {
    uint32_t sequence, owner;
    uint32_t thread;    /* the operating system's ID; 0: the row is free */
    uint32_t nested;    /* 0: outermost; n: in a callback of the call at level n - 1 */
    uint32_t function;  /* as the owner names it */
    uint32_t arguments; /* enum chain_argument */
    uint32_t inside;    /* 1: in the call; 0: it computes, after the call */
    int32_t peer, tag, source, source_tag;
    uint32_t count;     /* of requests */
    uint64_t object;    /* the handle */
    uint64_t bytes;
    uint64_t request;   /* its handle, or the address of the array */
    uint64_t address;   /* the caller's return address */
    uint64_t frame;     /* the caller's frame: its stack pointer at the call */
    uint64_t calls;
    uint64_t progress;  /* calls that did something: without those that polled and found nothing */
    uint64_t collective; /* the number of this collective call on the object, from 1 */
    /* What it has tested without success since `progress` was test_progress: */
    uint64_t test_progress;
    uint64_t test_what[CHAIN_TESTS];    /* the request or the address of the array, or the communicator of a probe */
    uint64_t test_address[CHAIN_TESTS]; /* the caller's return address */
    int32_t test_peer[CHAIN_TESTS], test_tag[CHAIN_TESTS]; /* of a probe */
    uint32_t test_function[CHAIN_TESTS], test_count[CHAIN_TESTS], test_arguments[CHAIN_TESTS];
    uint32_t tests;     /* how many; more than CHAIN_TESTS: further ones, which are not listed. With CHAIN_TEST_FOUND */
    uint32_t test_reserved;
    /* The last one-sided read that found what it had found before: */
    uint64_t read_window;
    int64_t read_displacement;
    uint64_t read_address;  /* the caller's return address */
    uint32_t read_function;
    int32_t read_target;
    uint64_t reads;         /* how often, since anything changed */
    uint64_t read_progress; /* `progress` then */
};

/* The collective calls on an object. */
struct chain_collectives {
    uint64_t count;
    uint32_t number[CHAIN_RECENT], function[CHAIN_RECENT]; /* the last ones, in a ring */
    int32_t root[CHAIN_RECENT];                            /* CALL_NONE: none */
    /* the numbers of the first persistent ones, and how often they were started */
    uint32_t persistent[CHAIN_PERSISTENT], starts[CHAIN_PERSISTENT];
    uint32_t failed, reserved; /* calls that failed: other processes may count differently */
};

/* A place that the thread reads by one-sided operations. */
struct chain_read {
    uint64_t key, buffer, value;
    uint32_t bytes;
    bool pending, known; /* an operation is under way; value is the last one */
    uint8_t skip, pause; /* reads that are progress without a look at their values, as the last ones have changed */
};
enum { CHAIN_READS = 8 };

/* What happens to an epoch of a window. */
enum chain_epoch {
    CHAIN_EPOCH_EXCLUSIVE, CHAIN_EPOCH_SHARED, /* before a lock of `target`, CHAIN_ALL_TARGETS for all */
    CHAIN_EPOCH_LOCKED,                        /* after it */
    CHAIN_EPOCH_FLUSHED, /* after the last operation to the thread's `target` was flushed, if it is this one */
    CHAIN_EPOCH_UNLOCKED,
    CHAIN_EPOCH_POST, CHAIN_EPOCH_START,       /* before, with the group */
    CHAIN_EPOCH_COMPLETED, CHAIN_EPOCH_WAITED, /* after: they end what START and POST have begun */
    CHAIN_EPOCH_FREED,
    CHAIN_EPOCH_NONE
};
#define CHAIN_ALL_TARGETS (-1)

enum { CHAIN_MESSAGE_BITS = 9, CHAIN_MESSAGE_PLACES = 1 << CHAIN_MESSAGE_BITS };
#define CHAIN_ANY_TAG INT32_MIN /* a message is counted once with its tag, and once with this */

/* A row of a table in the run: the messages of this process, see chain/messages.h. */
struct chain_messages {
    uint32_t sequence, owner;
    uint32_t version;
    uint32_t lost;   /* sent, at a place that is unknown */
    int32_t posted;  /* requests that receive and have not completed */
    uint32_t reserved;
    uint32_t sent[CHAIN_MESSAGE_PLACES], received[CHAIN_MESSAGE_PLACES];
};
extern struct chain_messages *chain_messages; /* never NULL */
extern bool chain_messages_shared;            /* several threads may count at once */

struct chain_state_thread {
    struct chain_state *state; /* of the innermost call; NULL: the thread has made no call */
    uint64_t object; /* the last object of a collective call */
    struct chain_collectives *collectives; /* its calls */
    uint32_t epoch;                /* of that object: see mpi/peers.h */
    int32_t target;                /* of the last one-sided operation */
    uint64_t window;
    uint64_t read_request;         /* the request of the last read, if it repeats an earlier one; else 0 */
    bool reading, repeated;        /* a read is pending; one since the last unlock repeats an earlier one */
    uint8_t read_next;
    struct chain_read read[CHAIN_READS];
};
extern AGENT_THREAD struct chain_state_thread chain_state_thread;

struct chain_state_owner {
    struct chain_state *(*begin)(uint32_t nested); /* a state for the calling thread at this level; NULL: none */
    void (*end)(struct chain_state *state);        /* the thread ends */
    /* An object's collective calls; NULL: they are unknown. alive: it is not being freed. */
    struct chain_collectives *(*collectives)(uint32_t kind, uint64_t object, bool *alive);
    void (*epoch)(enum chain_epoch what, const struct chain_state *state, int32_t target, uint64_t group);
    int32_t (*rank)(uint64_t object); /* of this process in a communicator; -1: unknown */
};

/* Starts to write states. texts has the owner's number of each function's name. */
void chain_states_start(const struct chain_state_owner *owner, const uint32_t *texts);

struct chain_call;

/* The number of a collective call that is being left, on its object, from 1. The object's other processes count the same
 * number in correct programs. 0: unknown, also once a collective call on the object has failed. */
uint64_t chain_collective_number(const struct chain_call *call);

/* How often a persistent collective was started; 0: it is not persistent, or this is unknown. */
uint32_t chain_state_starts(uint64_t object, uint32_t number);

/* Stops for good. Calls in progress may still write to their states, except the calling thread's. */
void chain_states_stop(void);

#pragma GCC visibility pop

#endif
