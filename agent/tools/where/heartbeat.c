/* heartbeat.c: a thread looks at all states ten times a second. It finds out what calls need not write themselves:
 * since when a thread is in its state, what the requests wait for that it waits for, whether it has left a call by
 * longjmp, and from where it calls. */
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/core.h"
#include "base/memory.h"
#include "mpi/posted.h"
#include "tools/where/where.h"

#define BEAT_NS 100000000
#define LONG_NS UINT64_C(500000000) /* a wait that may be a deadlock */
#define MOST_REQUESTS 256u
enum { WORKING_BEATS = 5, OUTSIDE_BEATS = 2 };

static cpu_set_t cores;
static uint64_t progress[WHERE_ROWS]; /* at the last beat */

const uint32_t *where_texts;
static struct where_row next; /* what a look at requests finds, in the fields from `pending` to `pending_starts` */
enum { PENDING_FROM = offsetof(struct where_row, pending),
      PENDING_BYTES = offsetof(struct where_row, sleeping) - PENDING_FROM };

static void list(uint32_t function, const struct posted *posted)
{
    uint32_t i = next.listed;
    next.pending++;
    if (i == WHERE_PENDING) return;
    next.pending_object[i] = posted->comm;
    next.pending_peer[i] = posted->peer;
    next.pending_tag[i] = posted->tag;
    next.pending_function[i] = function;
    next.pending_number[i] = posted->number;
    next.pending_starts[i] = chain_state_starts(posted->comm, posted->number);
    next.listed++;
}

/* Libraries return one handle for all requests that have completed at once. */
static bool is_shared(const uint64_t *handles, uint32_t count, uint32_t which)
{
    for (uint32_t i = 0; i < count; i++)
        if (i != which && handles[i] == handles[which]) return true;
    return false;
}

/* Adds the requests of a call. False: its array cannot be read. */
static bool list_requests(uint32_t arguments, uint64_t request, uint32_t count)
{
    uint64_t handles[MOST_REQUESTS];
    bool one = arguments & CHAIN_REQUEST;
    if (one) count = 1;
    uint32_t seen = count < MOST_REQUESTS ? count : MOST_REQUESTS;
    struct posted posted;
    if (one)
        handles[0] = request;
    else if (!posted_read(request, handles, seen))
        return false;
    next.pending += count - seen;
    for (uint32_t i = 0; i < seen; i++) {
        if (is_shared(handles, seen, i)) continue;
        if (posted_find(handles[i], &posted))
            list(where_texts[posted.function], &posted);
        else
            next.pending += handles[i] != 0;
    }
    return true;
}

/* What the thread has tested without success since its last progress. */
static bool list_tests(const struct chain_state *state)
{
    uint32_t tests = __atomic_load_n(&state->tests, __ATOMIC_ACQUIRE);
    if (state->test_progress != state->progress) return false;
    next.pending = tests & CHAIN_TEST_FOUND || tests > CHAIN_TESTS; /* it may wait for something else */
    for (uint32_t i = 0; i < (tests & ~CHAIN_TEST_FOUND) && i < CHAIN_TESTS; i++) {
        struct posted probe = {.comm = state->test_what[i], .peer = state->test_peer[i], .tag = state->test_tag[i]};
        bool same = false;
        for (uint32_t k = 0; k < i; k++) same |= state->test_what[k] == state->test_what[i];
        if (state->test_arguments[i] & CHAIN_COMM)
            list(state->test_function[i], &probe);
        else if (!same && !list_requests(state->test_arguments[i], state->test_what[i], state->test_count[i]))
            next.pending++;
    }
    return true;
}

/* Writes what it finds only if it is new: readers find nothing meanwhile. */
static void look_at_requests(struct where_row *row, uint64_t mark)
{
    const struct chain_state *state = &row->state;
    memset((char *)&next + PENDING_FROM, 0, PENDING_BYTES);
    bool known = state->arguments & CHAIN_POLLS ? list_tests(state)
                                                : list_requests(state->arguments, state->request, state->count);
    if (known && row->looked == mark &&
        memcmp((char *)&next + PENDING_FROM, (char *)row + PENDING_FROM, PENDING_BYTES) == 0)
        return;
    __atomic_store_n(&row->looked, 0, __ATOMIC_RELEASE);
    memcpy((char *)row + PENDING_FROM, (char *)&next + PENDING_FROM, PENDING_BYTES);
    if (known) __atomic_store_n(&row->looked, mark, __ATOMIC_RELEASE);
}

/* ---- beats ---- */

/* Whether the thread has left the call without a return: it has used the stack above since. */
static bool was_left(const struct chain_state *state, uint64_t calls)
{
#if defined(__x86_64__)
    uint64_t frame = state->frame, address = state->address, there;
    if (!memory_read(frame - sizeof there, &there, sizeof there)) return false;
    return there != address && stacks_still_in(state, calls);
#else
    (void)state, (void)calls;
    return false;
#endif
}

/* Into a call that has lasted for a beat. */
static void look_into(int index, struct where_row *row, uint64_t calls)
{
    if (was_left(&row->state, calls))
        __atomic_store_n(&row->left, calls, __ATOMIC_RELEASE);
    else if (row->stacked != calls)
        stacks_take(index, row, calls);
}

/* Reports whether the thread has waited in MPI for long. */
static bool look(int index, struct where_row *row, uint64_t now)
{
    const struct chain_state *state = &row->state;
    uint32_t inside = __atomic_load_n(&state->inside, __ATOMIC_ACQUIRE), arguments = state->arguments;
    uint64_t calls = state->calls, done = state->progress;
    if (inside && 2 * calls + 1 == row->seen) look_into(index, row, calls);
    inside = inside && row->left != calls;
    uint64_t seen = 2 * calls + inside;
    if (seen != row->seen) {
        __atomic_store_n(&row->since, now, __ATOMIC_RELAXED);
        __atomic_store_n(&row->seen, seen, __ATOMIC_RELEASE);
        if (inside && !(arguments & CHAIN_POLLS)) seen = 0; /* it may complete soon */
    }
    if (done != progress[index] || row->moved == 0) row->moved = now;
    progress[index] = done;
    row->beat = now;
    bool waits = inside ? seen != 0 : (arguments & CHAIN_POLLS) != 0;
    if (waits && (arguments & (CHAIN_REQUEST | CHAIN_REQUESTS | CHAIN_POLLS)) && state->sequence % 2 == 0)
        look_at_requests(row, done + 1);
    return waits && now - row->moved > clock_from_nanoseconds(LONG_NS);
}

/* What the threads do that are not in MPI. Needed only when others wait for long. */
static void look_outside(bool waiting, bool count)
{
    struct where_row *row;
    uint32_t working = threads_may_call() ? WHERE_UNKNOWN : 0, dormant = 0;
    if (waiting && count) working = threads_working(where_has_row, &dormant);
    for (int i = 0; (row = where_row(i)); i++) {
        const struct chain_state *state = &row->state;
        uint64_t calls = state->calls;
        if (!state->thread || state->nested) continue;
        bool outside = !__atomic_load_n(&state->inside, __ATOMIC_ACQUIRE) || row->left == calls;
        row->asleep = waiting && outside && threads_sleeps(state->thread) ? calls + 1 : 0;
        if (count) row->working = working, row->dormant = dormant;
    }
}

static void *beat(void *unused)
{
    const struct timespec pause = {0, BEAT_NS};
    bool waited = false;
    (void)unused;
    agent_thread_begins();
    if (CPU_COUNT(&cores) > 0) sched_setaffinity(0, sizeof cores, &cores);
    for (unsigned beats = 0; syscall(SYS_nanosleep, &pause, NULL), where_lock(); beats++) {
        struct where_row *row;
        uint64_t now = clock_ticks();
        bool waiting = false;
        for (int i = 0; (row = where_row(i)); i++)
            if (row->state.thread) waiting |= look(i, row, now);
        if (waiting || waited) look_outside(waiting, waiting != waited || beats % WORKING_BEATS == 0);
        if (beats % OUTSIDE_BEATS == 0) where_look_outside();
        waited = waiting;
        where_unlock();
    }
    return NULL;
}

void where_heartbeat_start(void)
{
    pthread_t thread;
    core_free(&cores);
    int rc = agent_thread(&thread, beat, NULL);
    if (rc)
        agent_report(MPITX_RUN_WARNING, "no thread (%s): mpitx where cannot say since when ranks wait", strerror(rc));
    else
        pthread_detach(thread);
}
