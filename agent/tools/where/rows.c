/* rows.c: a row for each thread that calls MPI, in which chain/state.h writes what the thread does. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "run/fields.h"
#include "tools/objects/objects.h"
#include "tools/where/where.h"

static const struct mpitx_run_field fields[] = {
    NUMBER("thread", U32), NUMBER("nested", U32), NAMED("function"), NUMBER("arguments", U32), NUMBER("inside", U32),
    NUMBER("peer", I32), NUMBER("tag", I32), NUMBER("source", I32), NUMBER("source_tag", I32), NUMBER("count", U32),
    NUMBER("handle", U64), BYTES("bytes"), NUMBER("request", U64), ADDRESS("address"), NUMBER("frame", U64),
    NUMBER("calls", U64), NUMBER("progress", U64), NUMBER("collective", U64), NUMBER("test_progress", U64),
    NUMBER("test_handle", U64, .count = CHAIN_TESTS), ADDRESS("test_address", .count = CHAIN_TESTS),
    NUMBER("test_peer", I32, .count = CHAIN_TESTS), NUMBER("test_tag", I32, .count = CHAIN_TESTS),
    NAMED("test_function", .count = CHAIN_TESTS), NUMBER("test_count", U32, .count = CHAIN_TESTS),
    NUMBER("test_arguments", U32, .count = CHAIN_TESTS), NUMBER("tests", U32), NUMBER("test_reserved", U32),
    NUMBER("read_handle", U64), NUMBER("read_displacement", I64), ADDRESS("read_address"), NAMED("read_function"),
    NUMBER("read_target", I32), NUMBER("reads", U64), NUMBER("read_progress", U64), TIME("since"), NUMBER("seen", U64),
    TIME("moved"), TIME("beat"), NUMBER("looked", U64), NUMBER("left", U64), NUMBER("sited", U64), ADDRESS("site"),
    NUMBER("asleep", U64), NUMBER("working", U32), NUMBER("dormant", U32), NUMBER("pending", U32),
    NUMBER("listed", U32), NUMBER("pending_handle", U64, .count = WHERE_PENDING),
    NUMBER("pending_peer", I32, .count = WHERE_PENDING), NUMBER("pending_tag", I32, .count = WHERE_PENDING),
    NAMED("pending_function", .count = WHERE_PENDING), NUMBER("pending_number", U32, .count = WHERE_PENDING),
    NUMBER("pending_starts", U32, .count = WHERE_PENDING), NUMBER("sleeping", U64), NAMED("outside"),
    NUMBER("busy", U32), NUMBER("stacked", U64), TIME("slept"),
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

struct where_row *where_row(int index) { return index < row_count ? rows[index] : NULL; }

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
    struct where_row *row = row_count < WHERE_ROWS
                            ? (struct where_row *)mpitx_run_row(agent_run, table, &(struct where_row){0}) : NULL;
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
