/* requests.h: the outstanding requests of the process, until they complete.
 *
 * The table has a fixed size. A request that does not fit is counted as lost, and its completion is not seen. The same
 * happens if another thread keeps its part of the table locked. Libraries give one handle to several sends that are
 * complete at once; those share an entry. Receives never do, and collectives only without threads. */
#ifndef MPITX_REQUESTS_H
#define MPITX_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum request_kind {
    REQUEST_OTHER,
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_PARTITIONED_SEND,
    REQUEST_PARTITIONED_RECEIVE, /* it names the whole message: source and tag cannot be wildcards */
    REQUEST_EXCHANGE,            /* MPI_Isendrecv: `bytes` is the size of its receive buffer */
    REQUEST_COLLECTIVE,
    REQUEST_COMM,    /* MPI_Comm_idup */
    REQUEST_MESSAGE, /* not a request: a message that was matched by a probe */
    REQUEST_FILE_READ,
    REQUEST_FILE_WRITE
};

struct request {
    uint64_t handle;
    uint64_t serial; /* set by the table; increases with each request */
    uint64_t comm;
    uint64_t bytes; /* of each start, for persistent requests */
    union {
        uint64_t got;  /* persistent REQUEST_COLLECTIVE: bytes that each start gets */
        void *newcomm; /* REQUEST_COMM: where the library stores the communicator */
        struct {
            uint32_t channel, starts; /* of a partitioned message: see struct call_completion */
        };
    };
    int32_t function, peer, tag;
    union {
        uint32_t copies; /* requests with this handle */
        uint32_t partitions; /* of a partitioned message, whose handle no other request has */
    };
    uint32_t epoch;  /* of comm, read while it was alive */
    uint8_t kind, persistent;
    uint8_t active; /* started, and reported to observers */
    uint8_t cancelling; /* MPI_Cancel was called for it */
};

static inline bool request_partitioned(const struct request *request)
{
    return request->kind == REQUEST_PARTITIONED_SEND || request->kind == REQUEST_PARTITIONED_RECEIVE;
}

/* Whether started requests are put into the table. */
extern bool requests_tracked;

enum { REQUESTS_MOST = 1 << 19 }; /* entries of the table */

/* Requests that did not fit, and requests whose part of the table another thread kept locked. */
extern uint64_t requests_lost, requests_locked;

/* Receives that were freed before they completed: their messages are not reported. */
extern uint64_t requests_freed;

/* Calls that failed to receive: whether they took messages is not known. */
extern uint64_t requests_failed;

/* Whether several threads may use different requests at once. */
extern bool requests_shared;

/* Requests that were put into the table so far. */
extern uint64_t requests_made;

/* Allocates the table; false if out of memory. */
bool requests_start(void);

/* The entry for a new request, to be filled in before requests_close. Fields that depend on the table or on other
 * requests are set. If an older request with this handle does not share it, that one has completed unseen. NULL: the
 * table is full. */
struct request *requests_open(uint64_t handle, enum request_kind kind, bool persistent);
void requests_close(uint64_t handle);

/* Adds a request that is already filled in; false if the table is full. One that was taken keeps its serial. */
bool requests_add(const struct request *request);

/* Removes one request with this handle and copies it out: the newest with a serial below `made`. A call that completes
 * requests passes requests_made from before the call: the library may have given the handle to another thread since. */
bool requests_take(uint64_t handle, uint64_t made, struct request *request);

/* Marks the newest request with this handle as about to be cancelled, and copies it out. False if it is unknown. */
bool requests_cancel(uint64_t handle, struct request *request);

/* Copies out the newest request with this handle. False if it is unknown. */
bool requests_find(uint64_t handle, struct request *request);

/* Marks a persistent request as started, or as completed if it was active, and copies out its previous state, with the
 * number of starts. False if it is unknown or was not active. */
bool requests_set_active(uint64_t handle, bool active, struct request *request);

#pragma GCC visibility pop

#endif
