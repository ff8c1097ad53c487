/* messages.h: counts the messages of this process by sender, receiver and tag, so that a reader of all processes'
 * counts can tell whether a message is under way. With mpi.h.
 *
 * A message is counted as sent before the call that sends it, and as received after the call that receives it. If the
 * counts of all processes for one place are equal, no message of that place is under way. A message whose receive
 * cannot be counted seems to be under way. */
#ifndef MPITX_MESSAGES_H
#define MPITX_MESSAGES_H

#include "chain/state.h"
#include "mpi/handles.h"
#include "mpi/peers.h"
#include "mpi/posted.h"

#pragma GCC visibility push(hidden)

enum { MESSAGES_SAVED = 256 };

/* The thread's last communicator, and the requests of its call before it. */
struct messages_thread {
    uint64_t comm;
    uint32_t epoch;
    int32_t rank; /* of this process in it */
    const struct chain_state *state;
    uint64_t calls; /* of the state, when the requests were saved */
    int count;
    uint64_t requests[MESSAGES_SAVED]; /* their handles */
};
extern AGENT_THREAD struct messages_thread messages_thread;

int32_t messages_find_rank(uint64_t comm);
void messages_started(uint64_t handle);
void messages_completed(uint64_t handle, const MPI_Status *status); /* NULL: the call ignores it */
/* indices NULL: all */
void messages_some(const struct chain_state *state, int count, const int *indices, const MPI_Status *statuses);

static inline int32_t messages_rank(uint64_t comm)
{
    const struct messages_thread *thread = &messages_thread;
    return thread->comm == comm && thread->epoch == epochs_now(comm) ? thread->rank : messages_find_rank(comm);
}

/* A place depends on the ranks in the communicator, so that it is the same in both processes. */
static inline uint32_t messages_place(int32_t source, int32_t destination, int32_t tag)
{
    uint64_t x = (uint32_t)source * UINT64_C(0x9e3779b97f4a7c15) +
                 (uint32_t)destination * UINT64_C(0xc2b2ae3d27d4eb4f) + (uint32_t)tag * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(((x ^ x >> 32) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - CHAIN_MESSAGE_BITS));
}

static inline void messages_add(uint32_t *counter, uint32_t n)
{
    if (__builtin_expect(chain_messages_shared, 0))
        __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
    else
        __atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Before a call that sends. */
static inline void messages_sent(uint64_t comm, int32_t destination, int32_t tag)
{
    struct chain_messages *messages = chain_messages;
    if (destination == MPI_PROC_NULL) return;
    int32_t own = messages_rank(comm);
    if (own < 0) messages_add(&messages->lost, 1);
    messages_add(&messages->sent[messages_place(own, destination, tag)], 1);
    messages_add(&messages->sent[messages_place(own, destination, CHAIN_ANY_TAG)], 1);
}

/* After a call that has received. The status is needed only if source or tag are wildcards. */
static inline void messages_received(uint64_t comm, int32_t source, int32_t tag, const MPI_Status *status)
{
    struct chain_messages *messages = chain_messages;
    if (source == MPI_ANY_SOURCE) source = status->MPI_SOURCE;
    if (tag == MPI_ANY_TAG) tag = status->MPI_TAG;
    if (source < 0) return; /* MPI_PROC_NULL */
    int32_t own = messages_rank(comm);
    if (own < 0) return;
    messages_add(&messages->received[messages_place(source, own, tag)], 1);
    messages_add(&messages->received[messages_place(source, own, CHAIN_ANY_TAG)], 1);
}

static inline void messages_posted(int32_t source)
{
    if (source != MPI_PROC_NULL) messages_add((uint32_t *)&chain_messages->posted, 1);
}

/* Before a call with an array of requests. */
static inline void messages_save(const struct chain_state *state, int count, const MPI_Request *requests)
{
    struct messages_thread *thread = &messages_thread;
    thread->state = state;
    thread->calls = state->calls;
    thread->count = requests && count > 0 && count <= MESSAGES_SAVED ? count : 0;
    for (int i = 0; i < thread->count; i++) thread->requests[i] = HANDLE_NUMBER(requests[i]);
}

/* Before MPI_Startall. */
static inline void messages_start_all(int count, const MPI_Request *requests)
{
    for (int i = 0; requests && i < count; i++) messages_started(HANDLE_NUMBER(requests[i]));
}

static inline void messages_completed_one(uint64_t handle, const MPI_Status *status)
{
    const struct posted *posted = posted_at(handle);
    if (posted->handle == handle && posted->function & POSTED_ACTIVE) messages_completed(handle, status);
}

#pragma GCC visibility pop

#endif
