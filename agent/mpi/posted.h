/* posted.h: the peers and tags of requests, for looks at calls that wait for them. Without mpi.h.
 *
 * The calls that start requests only write here. A request is never removed: it gives way to a later one with the same
 * hash, and is then unknown. Handles are only looked up while they are alive. */
#ifndef MPITX_POSTED_H
#define MPITX_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct posted {
    uint64_t handle, comm;
    int32_t peer, tag; /* CALL_NONE: none */
    uint32_t function; /* with the following bits */
    uint32_t number; /* of a collective call on comm; 0: none */
} __attribute__((aligned(32)));

/* The request sends or receives a message; it was started and has not completed; MPI_Cancel was called for it. */
#define POSTED_SENDS (UINT32_C(1) << 28)
#define POSTED_RECEIVES (UINT32_C(1) << 29)
#define POSTED_ACTIVE (UINT32_C(1) << 30)
#define POSTED_CANCELLED (UINT32_C(1) << 31)

enum { POSTED_BITS = 13 };
extern struct posted posted_requests[1 << POSTED_BITS];

static inline struct posted *posted_at(uint64_t handle)
{
    return &posted_requests[handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - POSTED_BITS)];
}

static inline void posted_add(uint64_t handle, uint32_t function, uint64_t comm, int32_t peer, int32_t tag)
{
    *posted_at(handle) = (struct posted){handle, comm, peer, tag, function, 0};
}

/* The request that was just added is of this collective call. */
static inline void posted_number(uint64_t handle, uint32_t number) { posted_at(handle)->number = number; }

static inline void posted_cancel(uint64_t handle)
{
    if (posted_at(handle)->handle == handle) posted_at(handle)->function |= POSTED_CANCELLED;
}

/* Copies one out, without the bits of its function; false if it is unknown. For any thread. */
bool posted_find(uint64_t handle, struct posted *found);

/* Reads n handles, 0 for MPI_REQUEST_NULL, from the application's array, which may be gone: without a fault. */
bool posted_read(uint64_t array, uint64_t *handles, unsigned n);

#pragma GCC visibility pop

#endif
