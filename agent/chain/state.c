/* state.c: the uncommon ways of states: first calls, nested calls, calls that were left, the end. */
#include "chain/state.h"

#include "chain/internal.h"
#include "mpi/peers.h"

AGENT_THREAD struct chain_state_thread chain_state_thread;
bool chain_states_on;

static struct chain_state nowhere; /* for threads without a row */
static const struct chain_state_owner *owner;

void chain_state_begin(void)
{
    struct chain_state_thread *thread = &chain_state_thread;
    if (thread->state || !chain_states_on) return;
    chain_watch_thread();
    struct chain_state *state = owner->begin();
    thread->state = state ? state : &nowhere;
}

struct chain_state *chain_state_find(const void *address, const void *frame)
{
    struct chain_state_thread *thread = &chain_state_thread;
    struct chain_state *state = thread->state;
    if (!state) {
        if (library_calls(address)) return NULL;
        chain_state_begin();
        return thread->state;
    }
    if (state == &nowhere) return state;
    return chain_is_nested(frame, thread->frame, (const void *)(uintptr_t)state->address) ? NULL : state;
}

uint64_t chain_state_collective(uint64_t object)
{
    struct chain_state_thread *thread = &chain_state_thread;
    thread->object = object;
    thread->epoch = peers_epoch(object);
    thread->collectives = thread->state == &nowhere ? NULL : owner->collectives(object);
    if (thread->collectives) return ++*thread->collectives;
    thread->object = 0;
    return 0;
}

void chain_state_thread_end(void)
{
    struct chain_state_thread *thread = &chain_state_thread;
    if (thread->state && thread->state != &nowhere && chain_states_on) owner->end(thread->state);
    *thread = (struct chain_state_thread){0};
}

void chain_states_start(const struct chain_state_owner *to, const uint32_t *texts)
{
    owner = to;
    for (int i = 0; i < chain_function_count; i++)
        chain_state_words[i] = texts[i] | (uint64_t)chain_state_arguments[i] << 32;
    chain_states_on = true;
    chain_state_begin();
    chain_set_flags();
}

void chain_states_stop(void)
{
    if (!chain_states_on) return;
    chain_states_on = false;
    chain_set_flags();
    chain_state_thread = (struct chain_state_thread){.state = &nowhere};
}
