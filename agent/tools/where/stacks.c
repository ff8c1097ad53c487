/* stacks.c: from where a thread calls MPI that waits there: the frames of its stack, as return addresses.
 *
 * The heartbeat reads them once for each call that lasts. The thread does nothing for it, so it may go on at any time:
 * what was read counts only if the thread is still in the call after that. A binding of the library for another
 * language, or a wrapper, is not a frame of the application. */
#include "base/memory.h"
#include "chain/cfi.h"
#include "mpi/library.h"
#include "run/fields.h"
#include "tools/where/where.h"

enum { MOST = 64, BETWEEN_DEEP = 24 };
enum ending { COMPLETE, CUT, FULL }; /* as in docs/run-format.md */

struct row {
    struct mpitx_run_row head;
    uint32_t thread, nested;
    uint64_t calls;
    uint32_t frames, ending;
    uint64_t address[MOST];
};

static const struct mpitx_run_field fields[] = {
    NUMBER("thread", U32), NUMBER("nested", U32), NUMBER("calls", U64), NUMBER("frames", U32), NUMBER("ending", U32),
    ADDRESS("address", .count = MOST),
};

static int table = -1;
static struct row *rows[WHERE_ROWS]; /* of the rows of `where`, when they first wait */

bool stacks_start(void)
{
    uint32_t bytes = 0;
    table = mpitx_run_declare_table(agent_run, "stacks", fields, COUNT(fields), 2, &bytes);
    return table >= 0 && bytes == sizeof(struct row);
}

bool stacks_still_in(const struct chain_state *state, uint64_t calls)
{
    return __atomic_load_n(&state->inside, __ATOMIC_ACQUIRE) && state->calls == calls && state->sequence % 2 == 0;
}

/* False: the thread has left the call, or only code between is known. */
static bool walk(const struct chain_state *state, struct row *to)
{
    struct cfi_frame frame = {.address = state->address, .pointer = state->frame};
    enum cfi_caller next = cfi_first(&frame) ? CFI_CALLER : CFI_UNKNOWN;
    int between = 0;
    for (; next == CFI_CALLER && to->frames < MOST; next = cfi_caller(&frame)) {
        if (to->frames > 0 || !library_is_between(frame.address))
            to->address[to->frames++] = frame.address;
        else if (++between > BETWEEN_DEEP)
            return false;
    }
    to->ending = next == CFI_OUTERMOST ? COMPLETE : next == CFI_UNKNOWN ? CUT : FULL;
    return to->frames > 0;
}

static void keep(int index, const struct row *new)
{
    static bool full;
    struct row *row = rows[index];
    if (!row) {
        if (!full) full = !(rows[index] = (struct row *)mpitx_run_row(agent_run, table, new));
        return;
    }
    mpitx_run_follow_modules(agent_run);
    if (!mpitx_run_row_begin(agent_run, &row->head)) return;
    memcpy(&row->thread, &new->thread, sizeof *row - offsetof(struct row, thread));
    mpitx_run_row_end(&row->head);
}

void stacks_take(int index, struct where_row *of, uint64_t calls)
{
    const struct chain_state *state = &of->state;
    struct row new = {.thread = state->thread, .nested = state->nested, .calls = calls};
    if (!stacks_still_in(state, calls) || !walk(state, &new) || !stacks_still_in(state, calls)) return;
    if (library_is_between(state->address)) {
        of->site = new.address[0];
        __atomic_store_n(&of->sited, calls, __ATOMIC_RELEASE);
    }
    keep(index, &new);
    if (rows[index] && rows[index]->calls == calls) __atomic_store_n(&of->stacked, calls, __ATOMIC_RELEASE);
}
