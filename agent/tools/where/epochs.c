/* epochs.c: a row for each epoch of a window in which this process locks others, or has exposed its memory to others or
 * may access theirs.
 *
 * Processes match their epochs by number: A's nth start of an access to B belongs to B's nth post to A. */
#include <errno.h>

#include "base/cancel.h"
#include "mpi/objects.h"
#include "run/fields.h"
#include "tools/objects/objects.h"
#include "tools/where/where.h"

enum { MEMBERS = 32, SLOTS = 128 };
enum kind { FREE, EXCLUSIVE, SHARED, EXPOSURE, ACCESS, LOST }; /* as in docs/run-format.md */

struct row {
    struct mpitx_run_row head;
    uint32_t slot, kind;
    uint64_t handle, address;
    int32_t target, proved;
    uint32_t held;
    int32_t members;
    uint64_t begun, ended;
    int32_t member[MEMBERS];
};

static const struct mpitx_run_field fields[] = {
    NUMBER("slot", U32), NUMBER("kind", U32), NUMBER("handle", U64), ADDRESS("address"), NUMBER("target", I32),
    NUMBER("proved", I32), NUMBER("held", U32), NUMBER("members", I32), NUMBER("begun", U64), NUMBER("ended", U64),
    NUMBER("member", I32, .count = MEMBERS),
};

enum { NOBODY = -2 }; /* as a target: CHAIN_ALL_TARGETS is -1 */

static int table = -1;
static struct row *rows[SLOTS];
static int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void change(struct row *row, const struct row *to)
{
    if (!mpitx_run_row_begin(agent_run, &row->head)) return;
    memcpy(&row->kind, &to->kind, sizeof *row - offsetof(struct row, kind));
    mpitx_run_row_end(&row->head);
}

/* Adds a row. If there is no room, the first one says so. */
static struct row *add(struct row *new)
{
    for (int i = 0; i < count; i++)
        if (rows[i]->kind == FREE) {
            change(rows[i], new);
            return rows[i];
        }
    new->slot = (uint32_t)count;
    if (count < SLOTS && (rows[count] = (struct row *)mpitx_run_row(agent_run, table, new))) return rows[count++];
    struct row lost = {.kind = LOST};
    if (count) change(rows[0], &lost);
    return NULL;
}

static struct row *find_lock(uint64_t window, int32_t target)
{
    for (int i = 0; i < count; i++)
        if ((rows[i]->kind == EXCLUSIVE || rows[i]->kind == SHARED) && rows[i]->handle == window &&
            rows[i]->target == target)
            return rows[i];
    return NULL;
}

static void locked(uint64_t window, int32_t target)
{
    struct row *row = find_lock(window, target);
    if (!row) return;
    struct row to = *row;
    to.held = 1;
    change(row, &to);
}

/* All of the process's locks of the window that an operation to a target was flushed in. */
static void flushed(uint64_t window, int32_t flushed_target)
{
    int32_t target = chain_state_thread.target;
    if (chain_state_thread.window != window || target < 0 ||
        (flushed_target != CHAIN_ALL_TARGETS && flushed_target != target))
        return;
    struct row *row = find_lock(window, target);
    if (!row) row = find_lock(window, CHAIN_ALL_TARGETS);
    if (!row || row->proved == target) return;
    struct row to = *row;
    to.proved = target;
    change(row, &to);
}

static void unlocked(uint64_t window, int32_t target)
{
    static const struct row none;
    struct row *row = find_lock(window, target);
    if (row) change(row, &none);
}

/* The epochs with one group share a row. */
static void begin(enum kind kind, uint64_t window, struct row *new)
{
    for (int i = 0; i < count; i++)
        if (rows[i]->kind == kind && rows[i]->handle == window && rows[i]->members == new->members &&
            memcmp(rows[i]->member, new->member, sizeof new->member) == 0) {
            struct row to = *rows[i];
            to.begun++;
            to.address = new->address;
            change(rows[i], &to);
            return;
        }
    add(new);
}

static void end(enum kind kind, uint64_t window)
{
    for (int i = 0; i < count; i++)
        if (rows[i]->kind == kind && rows[i]->handle == window && rows[i]->ended < rows[i]->begun) {
            struct row to = *rows[i];
            to.ended = to.begun;
            change(rows[i], &to);
        }
}

static void freed(uint64_t window)
{
    static const struct row none;
    for (int i = 0; i < count; i++)
        if (rows[i]->kind != FREE && rows[i]->kind != LOST && rows[i]->handle == window) change(rows[i], &none);
}

void epochs_change(enum chain_epoch what, const struct chain_state *state, int32_t target, uint64_t group)
{
    uint64_t window = state->object;
    if (table < 0 || what == CHAIN_EPOCH_NONE) return;
    struct row new = {.handle = window, .address = state->address, .target = target, .proved = NOBODY, .members = -1};
    int saved = errno;
    if (what == CHAIN_EPOCH_POST || what == CHAIN_EPOCH_START) {
        if (!objects_find(CALL_WIN, window)) return;
        new.members = object_members((union mpi_handle){.number = window}, (union mpi_handle){.number = group},
                                     new.member, MEMBERS);
        new.kind = what == CHAIN_EPOCH_POST ? EXPOSURE : ACCESS;
        new.begun = 1;
    }
    if (what == CHAIN_EPOCH_EXCLUSIVE || what == CHAIN_EPOCH_SHARED) {
        new.kind = what == CHAIN_EPOCH_EXCLUSIVE ? EXCLUSIVE : SHARED;
        if (chain_state_thread.window == window) chain_state_thread.target = NOBODY; /* earlier ones prove nothing */
    }
    struct hold hold = hold_lock(&lock);
    switch (what) {
    case CHAIN_EPOCH_EXCLUSIVE:
    case CHAIN_EPOCH_SHARED: add(&new); break;
    case CHAIN_EPOCH_LOCKED: locked(window, target); break;
    case CHAIN_EPOCH_FLUSHED: flushed(window, target); break;
    case CHAIN_EPOCH_UNLOCKED: unlocked(window, target); break;
    case CHAIN_EPOCH_POST:
    case CHAIN_EPOCH_START: begin(new.kind, window, &new); break;
    case CHAIN_EPOCH_COMPLETED: end(ACCESS, window); break;
    case CHAIN_EPOCH_WAITED: end(EXPOSURE, window); break;
    case CHAIN_EPOCH_FREED: freed(window); break;
    case CHAIN_EPOCH_NONE: break;
    }
    hold_unlock(&lock, hold);
    errno = saved;
}

bool epochs_start(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "epochs", fields, COUNT(fields), 1, &bytes);
    return table >= 0 && bytes == sizeof(struct row);
}
