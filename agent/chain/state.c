/* state.c: the uncommon ways of states: first calls, nested calls, calls that were left, the end. */
#include "chain/state.h"

#include "chain/internal.h"
#include "mpi/peers.h"

AGENT_THREAD struct chain_state_thread chain_state_thread;
bool chain_states_on;

enum { LEVELS = 4 }; /* deeper calls are not shown */

static struct chain_state nowhere; /* for threads without a row */
static AGENT_THREAD struct chain_state *levels[LEVELS]; /* the states of a thread; NULL: not needed so far */
static const struct chain_state_owner *owner;

void chain_state_begin(void)
{
    struct chain_state_thread *thread = &chain_state_thread;
    if (thread->state || !chain_states_on) return;
    chain_watch_thread();
    levels[0] = owner->begin(0);
    thread->state = levels[0] ? levels[0] : &nowhere;
}

/* The state for a call by a callback. */
static struct chain_state *begin_nested(uint32_t level, const void *address)
{
    if (level >= LEVELS || library_is_inside(address)) return NULL;
    if (!levels[level]) levels[level] = owner->begin(level);
    return levels[level] ? chain_state_thread.state = levels[level] : NULL;
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
    for (uint32_t level = state->nested;; level--) {
        const struct chain_state *outer = levels[level];
        if (outer->inside && chain_is_nested(frame, (const void *)(uintptr_t)outer->frame, (const void *)(uintptr_t)outer->address))
            return begin_nested(level + 1, address);
        if (level == 0) break;
        levels[level]->inside = 0; /* longjmp or an exception has left it */
        thread->state = levels[level - 1];
    }
    return thread->state;
}

void chain_state_return(struct chain_state *state)
{
    chain_state_thread.state = levels[state->nested - 1];
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
    for (int i = 0; i < LEVELS; i++) {
        if (levels[i] && chain_states_on) owner->end(levels[i]);
        levels[i] = NULL;
    }
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
