/* rows.c: a row for each thread that calls MPI, in which chain/state.h writes what the thread does. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "tools/objects/objects.h"
#include "tools/where/where.h"

static const struct mpitx_run_field fields[] = {
    {.name = "thread", .type = MPITX_RUN_U32},
    {.name = "nested", .type = MPITX_RUN_U32},
    {.name = "function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
    {.name = "arguments", .type = MPITX_RUN_U32},
    {.name = "inside", .type = MPITX_RUN_U32},
    {.name = "peer", .type = MPITX_RUN_I32},
    {.name = "tag", .type = MPITX_RUN_I32},
    {.name = "source", .type = MPITX_RUN_I32},
    {.name = "source_tag", .type = MPITX_RUN_I32},
    {.name = "count", .type = MPITX_RUN_U32},
    {.name = "handle", .type = MPITX_RUN_U64},
    {.name = "bytes", .type = MPITX_RUN_U64, .unit = "B"},
    {.name = "request", .type = MPITX_RUN_U64},
    {.name = "address", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS},
    {.name = "frame", .type = MPITX_RUN_U64},
    {.name = "calls", .type = MPITX_RUN_U64},
    {.name = "progress", .type = MPITX_RUN_U64},
    {.name = "collective", .type = MPITX_RUN_U64},
    {.name = "test_progress", .type = MPITX_RUN_U64},
    {.name = "test_handle", .type = MPITX_RUN_U64, .count = CHAIN_TESTS},
    {.name = "test_address", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS, .count = CHAIN_TESTS},
    {.name = "test_peer", .type = MPITX_RUN_I32, .count = CHAIN_TESTS},
    {.name = "test_tag", .type = MPITX_RUN_I32, .count = CHAIN_TESTS},
    {.name = "test_function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT, .count = CHAIN_TESTS},
    {.name = "test_count", .type = MPITX_RUN_U32, .count = CHAIN_TESTS},
    {.name = "test_arguments", .type = MPITX_RUN_U32, .count = CHAIN_TESTS},
    {.name = "tests", .type = MPITX_RUN_U32},
    {.name = "test_reserved", .type = MPITX_RUN_U32},
    {.name = "read_handle", .type = MPITX_RUN_U64},
    {.name = "read_displacement", .type = MPITX_RUN_I64},
    {.name = "read_address", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS},
    {.name = "read_function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
    {.name = "read_target", .type = MPITX_RUN_I32},
    {.name = "reads", .type = MPITX_RUN_U64},
    {.name = "read_progress", .type = MPITX_RUN_U64},
    {.name = "since", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_TIME},
    {.name = "seen", .type = MPITX_RUN_U64},
    {.name = "moved", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_TIME},
    {.name = "beat", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_TIME},
    {.name = "looked", .type = MPITX_RUN_U64},
    {.name = "left", .type = MPITX_RUN_U64},
    {.name = "sited", .type = MPITX_RUN_U64},
    {.name = "site", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS},
    {.name = "asleep", .type = MPITX_RUN_U64},
    {.name = "working", .type = MPITX_RUN_U32},
    {.name = "dormant", .type = MPITX_RUN_U32},
    {.name = "pending", .type = MPITX_RUN_U32},
    {.name = "listed", .type = MPITX_RUN_U32},
    {.name = "pending_handle", .type = MPITX_RUN_U64, .count = WHERE_PENDING},
    {.name = "pending_peer", .type = MPITX_RUN_I32, .count = WHERE_PENDING},
    {.name = "pending_tag", .type = MPITX_RUN_I32, .count = WHERE_PENDING},
    {.name = "pending_function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT, .count = WHERE_PENDING},
    {.name = "pending_number", .type = MPITX_RUN_U32, .count = WHERE_PENDING},
    {.name = "pending_starts", .type = MPITX_RUN_U32, .count = WHERE_PENDING},
    {.name = "sleeping", .type = MPITX_RUN_U64},
    {.name = "outside", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
    {.name = "busy", .type = MPITX_RUN_U32},
    {.name = "stacked", .type = MPITX_RUN_U64},
    {.name = "slept", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_TIME},
};
_Static_assert(offsetof(struct chain_state, thread) == sizeof(struct mpitx_run_row), "a row of the run");

static int table;
static struct where_row *rows[WHERE_ROWS];
static int row_count;
static bool over;

/* ---- the lock: rows come and go, and the heartbeat looks at them ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct hold held;

bool where_lock(void)
{
    struct hold before = hold_begin();
    pthread_mutex_lock(&mutex);
    held = before;
    bool open = !over;
    if (!open) where_unlock();
    return open;
}

void where_unlock(void)
{
    struct hold before = held;
    pthread_mutex_unlock(&mutex);
    hold_end(before);
}

/* A signal handler may have interrupted the holder in this thread. */
static bool try_lock(void)
{
    const struct timespec pause = {0, 50000};
    struct hold before = hold_begin();
    for (int i = 0; i < 200; i++) {
        if (pthread_mutex_trylock(&mutex) == 0) {
            held = before;
            return true;
        }
        syscall(SYS_nanosleep, &pause, NULL);
    }
    hold_end(before);
    return false;
}

/* ---- rows ---- */

struct where_row *where_row(int index)
{
    return index < row_count ? rows[index] : NULL;
}

bool where_has_row(uint32_t id)
{
    struct where_row *row;
    for (int i = 0; (row = where_row(i)); i++)
        if (row->state.thread == id) return true;
    return false;
}

static struct where_row *add(void)
{
    for (int i = 0; i < row_count; i++)
        if (!rows[i]->state.thread) return rows[i];
    struct where_row *row = row_count < WHERE_ROWS ? (struct where_row *)mpitx_run_row(agent_run, table, &(struct where_row){0}) : NULL;
    if (row) rows[row_count++] = row;
    return row;
}

struct chain_state *where_begin_row(uint32_t nested)
{
    static bool noted;
    struct where_row *row = NULL;
    if (!try_lock()) return NULL;
    if (!over && !(row = add()) && !noted) {
        noted = true;
        agent_report(MPITX_RUN_INFO, "mpitx where does not show all threads: no room in the run");
    }
    if (row) {
        uint32_t thread = (uint32_t)syscall(SYS_gettid);
        row->state.inside = 0;
        row->state.arguments = 0;
        row->state.nested = nested;
        row->state.calls = row->state.progress = row->state.reads = 0;
        row->state.test_progress = UINT64_MAX;
        row->seen = row->looked = row->left = row->sited = row->stacked = row->asleep = row->sleeping = row->slept = 0;
        row->outside = text_empty();
        row->working = threads_may_call() ? WHERE_UNKNOWN : 0;
        row->dormant = 0;
        row->since = row->moved = row->beat = clock_ticks();
        row->state.owner = thread;
        __atomic_store_n(&row->state.thread, thread, __ATOMIC_RELEASE);
    }
    where_unlock();
    return row ? &row->state : NULL;
}

void where_end_row(struct chain_state *state)
{
    if (!try_lock()) return;
    if (!over) __atomic_store_n(&state->thread, 0, __ATOMIC_RELEASE);
    where_unlock();
}

bool where_declare_rows(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "where", fields, COUNT(fields), 2, &bytes);
    return table >= 0 && bytes == sizeof(struct where_row);
}

bool where_close_rows(void)
{
    int alive = 0;
    bool locked = try_lock();
    over = true;
    for (int i = 0; i < row_count; i++) alive += rows[i]->state.thread != 0;
    if (locked) where_unlock();
    return locked && alive <= 1;
}
