/* state.c: the uncommon ways of states: first calls, nested calls, calls that were left, the end. */
#include "chain/state.h"

#include "chain/internal.h"
#include "mpi/peers.h"

AGENT_THREAD struct chain_state_thread chain_state_thread;

enum { LEVELS = 4 }; /* deeper calls are not shown */

static struct chain_messages uncounted; /* before the row is there */
struct chain_messages *chain_messages = &uncounted;
bool chain_messages_shared;

static struct chain_state nowhere; /* for threads without a row */
static AGENT_THREAD struct chain_state *levels[LEVELS]; /* the states of a thread; NULL: not needed so far */
static const struct chain_state_owner *owner;

static void end_thread(void)
{
    struct chain_state_thread *thread = &chain_state_thread;
    for (int i = 0; i < LEVELS; i++) {
        if (levels[i] && chain_states_on) owner->end(levels[i]);
        levels[i] = NULL;
    }
    *thread = (struct chain_state_thread){0};
}

/* Gives the calling thread a state before its first call. */
static void begin_outermost(void)
{
    struct chain_state_thread *thread = &chain_state_thread;
    if (thread->state || !chain_states_on) return;
    chain_at_thread_end(end_thread);
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
        begin_outermost();
        return thread->state;
    }
    if (state == &nowhere) return state;
    for (uint32_t level = state->nested;; level--) {
        const struct chain_state *outer = levels[level];
        if (outer->inside &&
            chain_is_nested(frame, (const void *)(uintptr_t)outer->frame, (const void *)(uintptr_t)outer->address))
            return begin_nested(level + 1, address);
        if (level == 0) break;
        levels[level]->inside = 0; /* longjmp or an exception has left it */
        thread->state = levels[level - 1];
    }
    return thread->state;
}

void chain_state_return(struct chain_state *state) { chain_state_thread.state = levels[state->nested - 1]; }

uint64_t chain_state_collective(uint32_t kind, uint64_t object)
{
    struct chain_state_thread *thread = &chain_state_thread;
    bool alive = false;
    struct chain_collectives *collectives = thread->state == &nowhere ? NULL : owner->collectives(kind, object, &alive);
    thread->object = collectives && alive ? object : 0;
    thread->epoch = epochs_now(object);
    thread->collectives = collectives;
    return collectives ? ++collectives->count : 0;
}

uint64_t chain_collective_number(const struct chain_call *call)
{
    const struct chain_state_thread *thread = &chain_state_thread;
    if (!(call->flags & CHAIN_FLAG_STATE) || !thread->state) return 0;
    return thread->collectives && thread->collectives->failed == 0 ? thread->state->collective : 0;
}

void chain_state_epoch(enum chain_epoch what, const struct chain_state *state, int32_t target, uint64_t group)
{
    if (state != &nowhere && chain_states_on) owner->epoch(what, state, target, group);
}

int32_t chain_state_rank(uint64_t object) { return chain_states_on ? owner->rank(object) : -1; }

/* A persistent collective is made (number: of this call) or started. */
void chain_state_persistent(uint64_t object, uint32_t number, bool start)
{
    bool alive;
    struct chain_collectives *collectives = number && chain_states_on ? owner->collectives(CALL_COMM, object, &alive)
                                                                      : NULL;
    for (int i = 0; collectives && i < CHAIN_PERSISTENT; i++) {
        if (start ? collectives->persistent[i] == number : collectives->persistent[i] == 0) {
            collectives->starts[i] += start;
            collectives->persistent[i] = number;
            return;
        }
    }
}

uint32_t chain_state_starts(uint64_t object, uint32_t number)
{
    bool alive;
    const struct chain_collectives *collectives = number ? owner->collectives(CALL_COMM, object, &alive) : NULL;
    for (int i = 0; collectives && i < CHAIN_PERSISTENT; i++)
        if (collectives->persistent[i] == number) return collectives->starts[i];
    return 0;
}

/* ---- polling ---- */

void chain_state_test(struct chain_state *state)
{
    bool probe = state->arguments & CHAIN_COMM;
    uint64_t what = probe ? state->object : state->request;
    uint32_t count = state->arguments & CHAIN_REQUESTS ? state->count : 0;
    if (state->test_progress != state->progress) {
        state->tests = 0;
        state->test_progress = state->progress;
    }
    uint32_t known = state->tests & ~CHAIN_TEST_FOUND, listed = known < CHAIN_TESTS ? known : CHAIN_TESTS;
    for (uint32_t i = 0; i < listed; i++) {
        if (state->test_what[i] != what || state->test_function[i] != state->function ||
            state->test_address[i] != state->address)
            continue;
        if (probe && (state->test_peer[i] != state->peer || state->test_tag[i] != state->tag)) continue;
        state->test_count[i] = count;
        return;
    }
    if (listed < CHAIN_TESTS) {
        state->test_what[listed] = what;
        state->test_address[listed] = state->address;
        state->test_peer[listed] = state->peer;
        state->test_tag[listed] = state->tag;
        state->test_count[listed] = count;
        state->test_function[listed] = state->function;
        state->test_arguments[listed] = state->arguments;
    }
    if (known <= CHAIN_TESTS) __atomic_store_n(&state->tests, state->tests + 1, __ATOMIC_RELEASE);
}

void chain_states_start(const struct chain_state_owner *to, const uint32_t *texts)
{
    owner = to;
    for (int i = 0; i < chain_function_count; i++)
        chain_state_words[i] = texts[i] | (uint64_t)chain_state_arguments[i] << 32;
    chain_states_on = true;
    begin_outermost();
    chain_set_flags();
}

void chain_states_stop(void)
{
    if (!chain_states_on) return;
    chain_states_on = false;
    chain_set_flags();
    chain_messages = &uncounted;
    chain_state_thread = (struct chain_state_thread){.state = &nowhere};
}
