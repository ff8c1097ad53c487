/* requests.h: the outstanding requests of the process: what they are, until they complete.
 *
 * A table of fixed size: a request that finds no place is counted as lost and its completion is not seen; so is one whose part of
 * the table another thread does not let go of. Libraries give one handle to several sends that are complete at once; those share a
 * place. */
#ifndef MPITX_REQUESTS_H
#define MPITX_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum request_kind {
    REQUEST_OTHER,
    REQUEST_SEND,
    REQUEST_RECEIVE,
    REQUEST_PARTITIONED_RECEIVE, /* its status need not know the size: bytes does */
    REQUEST_EXCHANGE,            /* MPI_Isendrecv: bytes is what its receive has room for */
    REQUEST_COLLECTIVE,
    REQUEST_COMM,    /* MPI_Comm_idup */
    REQUEST_MESSAGE, /* no request, but a message that was matched by a probe */
    REQUEST_FILE_READ
};

struct request {
    uint64_t handle;
    uint64_t serial; /* the table's: later ones have higher numbers */
    uint64_t comm;
    uint64_t bytes; /* of each start, for persistent requests */
    union {
        uint64_t got;  /* REQUEST_COLLECTIVE that is persistent: what each start gets */
        void *newcomm; /* REQUEST_COMM: where the communicator will be put */
    };
    int32_t function, peer, tag;
    uint32_t copies; /* requests with this handle */
    uint32_t epoch;  /* of comm, when it was known to live */
    uint8_t kind, persistent;
    uint8_t active; /* started, and observers know */
} __attribute__((aligned(64)));

/* Requests that are started are put into the table. */
extern bool requests_tracked;

/* Those that found no place. */
extern uint64_t requests_lost;

/* Several threads may use different requests at once; then true. */
extern bool requests_shared;

/* Requests that were put into the table so far. */
extern uint64_t requests_made;

/* Takes the memory; false where there is none. */
bool requests_start(void);

/* The place of a new request, to be filled in before requests_close; all that it says of others is set. An older request with this
 * handle that does not share it has completed unseen. NULL when there is no place. */
struct request *requests_open(uint64_t handle, enum request_kind kind, bool persistent);
void requests_close(uint64_t handle);

/* The same for one that is filled in already; false when there is no place. */
bool requests_add(const struct request *request);

/* Forgets one request with this handle, copying out what it was: the newest of those that were there when so many had been made.
 * For a call that completes requests that is what it found: the library may have given the handle to another thread since. */
bool requests_take(uint64_t handle, uint64_t made, struct request *request);

/* A persistent request was started, or has completed, which only an active one does; false when it is not known or was not active.
 * The request is as it was before. */
bool requests_set_active(uint64_t handle, bool active, struct request *request);

#pragma GCC visibility pop

#endif
