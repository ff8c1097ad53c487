#include "chain/messages.h"

#include "chain/internal.h"

AGENT_THREAD struct messages_thread messages_thread;

int32_t messages_find_rank(uint64_t comm)
{
    struct messages_thread *thread = &messages_thread;
    thread->epoch = epochs_now(comm);
    thread->rank = chain_state_rank(comm);
    thread->comm = comm;
    return thread->rank;
}

/* Before a persistent request is started. */
void messages_started(uint64_t handle)
{
    struct posted *posted = posted_at(handle);
    if (posted->handle != handle) return;
    if (posted->number) chain_state_persistent(posted->comm, posted->number, true);
    if (posted->function & POSTED_SENDS) messages_sent(posted->comm, posted->peer, posted->tag);
    if (!(posted->function & POSTED_RECEIVES) || posted->function & POSTED_ACTIVE) return;
    posted->function |= POSTED_ACTIVE;
    messages_posted(posted->peer);
}

void messages_completed(uint64_t handle, const MPI_Status *status)
{
    struct posted *posted = posted_at(handle);
    if (posted->handle != handle || !(posted->function & POSTED_ACTIVE)) return;
    posted->function &= ~POSTED_ACTIVE;
    messages_add((uint32_t *)&chain_messages->posted, (uint32_t)-1);
    bool wild = posted->peer == MPI_ANY_SOURCE || posted->tag == MPI_ANY_TAG;
    if (!(posted->function & POSTED_CANCELLED) && (status || !wild))
        messages_received(posted->comm, posted->peer, posted->tag, status);
}

void messages_some(const struct chain_state *state, int count, const int *indices, const MPI_Status *statuses)
{
    const struct messages_thread *thread = &messages_thread;
    if (thread->state != state || thread->calls != state->calls) return; /* a callback has saved others */
    if (!indices) count = thread->count;
    for (int k = 0; k < count; k++) {
        int i = indices ? indices[k] : k;
        if (i >= 0 && i < thread->count)
            messages_completed_one(thread->requests[i], statuses == MPI_STATUSES_IGNORE ? NULL : &statuses[k]);
    }
}
