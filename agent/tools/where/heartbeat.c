/* heartbeat.c: a thread looks at all states ten times a second. It says since when a thread is in its state, so that calls need no clock, and
 * what the requests wait for that a thread waits for, so that calls need not look them up. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/core.h"
#include "mpi/posted.h"
#include "tools/where/where.h"

#define BEAT_NS 100000000
#define MOST_REQUESTS 256u

static cpu_set_t cores;
static uint64_t progress[WHERE_ROWS]; /* at the last beat */

static void look_at_requests(struct where_row *row, uint64_t mark)
{
    uint64_t handles[MOST_REQUESTS];
    const struct chain_state *state = &row->state;
    bool one = state->arguments & CHAIN_REQUEST;
    uint32_t count = one ? 1 : state->count, seen = count < MOST_REQUESTS ? count : MOST_REQUESTS;
    struct posted posted;
    if (one)
        handles[0] = state->request;
    else if (!posted_read(state->request, handles, seen))
        return;
    __atomic_store_n(&row->looked, 0, __ATOMIC_RELEASE);
    row->pending = count - seen;
    row->listed = 0;
    for (uint32_t i = 0; i < seen; i++) {
        row->pending += handles[i] != 0;
        if (row->listed == WHERE_PENDING || !posted_find(handles[i], &posted)) continue;
        row->pending_object[row->listed] = posted.comm;
        row->pending_peer[row->listed] = posted.peer;
        row->pending_tag[row->listed] = posted.tag;
        row->pending_function[row->listed++] = where_texts[posted.function];
    }
    __atomic_store_n(&row->looked, mark, __ATOMIC_RELEASE);
}

static void look(struct where_row *row, uint64_t *before, uint64_t now)
{
    const struct chain_state *state = &row->state;
    uint32_t inside = __atomic_load_n(&state->inside, __ATOMIC_ACQUIRE), arguments = state->arguments;
    uint64_t calls = state->calls, done = state->progress, seen = 2 * calls + inside;
    if (seen != row->seen) {
        __atomic_store_n(&row->since, now, __ATOMIC_RELAXED);
        __atomic_store_n(&row->seen, seen, __ATOMIC_RELEASE);
        if (inside && !(arguments & CHAIN_POLLS)) seen = 0; /* it may complete soon */
    }
    if (done != *before || row->moved == 0) row->moved = now;
    *before = done;
    row->beat = now;
    bool waits = inside ? seen != 0 : (arguments & CHAIN_POLLS) != 0;
    if (waits && (arguments & (CHAIN_REQUEST | CHAIN_REQUESTS)) && state->sequence % 2 == 0) look_at_requests(row, done + 1);
}

static void *beat(void *unused)
{
    const struct timespec pause = {0, BEAT_NS};
    (void)unused;
    if (CPU_COUNT(&cores) > 0) sched_setaffinity(0, sizeof cores, &cores);
    while (syscall(SYS_nanosleep, &pause, NULL), where_lock()) {
        struct where_row *row;
        uint64_t now = clock_ticks();
        for (int i = 0; (row = where_row(i)); i++)
            if (row->state.thread) look(row, &progress[i], now);
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
