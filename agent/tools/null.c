/* null.c: a tool that only counts calls and messages, as a template for tools of the agent (profiles, traces).
 *
 * Copy it, rename it, and add it to the table (life/tools.c). With the configuration key null=count it ends with a note
 * of its counts. With null=record it also writes into the run: an event for each call, and a table of functions. Each
 * thread has its own rows in the table, so no call waits for another. docs/guide.md ("A tool of the agent") runs it. */
#include <stddef.h>

#include "base/memory.h"
#include "run/fields.h"
#include "run/process.h"
#include "tools/tool.h"

/* The state of one thread: allocated at its first call, kept after it ends. */
struct mine {
    struct mine *next;
    uint64_t entered, left, abandoned, completed;
    int stream; /* stream of events; negative: none */
    struct mpitx_run_row *rows[]; /* by function, of those called */
};

static bool on;
static AGENT_THREAD struct mine *mine;
static struct mine *all;

/* ---- records ---- */

struct event {
    uint32_t function;
    int32_t peer;
    uint64_t bytes, enter;
};

struct row {
    struct mpitx_run_row head;
    uint32_t function;
    uint64_t calls, ticks;
};

static const struct mpitx_run_field event_fields[] = {
    NAMED("function"), NUMBER("peer", I32), BYTES("bytes"), TIME("enter"),
};
static const struct mpitx_run_field row_fields[] = {NAMED("function"), NUMBER("calls", U64), NUMBER("ticks", U64)};

static struct mpitx_run *run; /* NULL: not recording */
static int event_type, table;
static int *names; /* text identifiers of the functions' names */

static bool declare(void)
{
    uint32_t event_bytes = 0, row_bytes = 0;
    names = memory_new((size_t)chain_function_count, sizeof *names);
    if (!names) return false;
    for (int i = 0; i < chain_function_count; i++)
        if ((names[i] = mpitx_run_declare_text(agent_run, chain_functions[i].name)) < 0) return false;
    event_type = mpitx_run_declare_event(agent_run, "null call", event_fields, COUNT(event_fields), &event_bytes);
    table = mpitx_run_declare_table(agent_run, "null functions", row_fields, COUNT(row_fields), 1, &row_bytes);
    return event_type >= 0 && table >= 0 && event_bytes == sizeof(struct event) && row_bytes == sizeof(struct row);
}

static void record(struct mpitx_run *to, struct mine *m, const struct chain_call *call)
{
    uint32_t function = (uint32_t)names[call->function];
    struct event event = {function, call->description.peer,
                          call->description.sent_bytes + call->description.received_bytes, call->enter};
    if (m->stream < 0) m->stream = mpitx_run_thread_begin(to);
    if (m->stream >= 0) mpitx_run_event(to, m->stream, event_type, call->leave, &event);
    struct mpitx_run_row **row = &m->rows[call->function];
    if (!*row) *row = mpitx_run_row(to, table, &(struct row){.function = function});
    if (!mpitx_run_row_begin(to, *row)) return; /* false also if the table is full */
    struct row *values = (struct row *)*row;
    values->calls++;
    values->ticks += call->leave - call->enter;
    mpitx_run_row_end(*row);
}

/* ---- observation ---- */

static struct mine *find_mine(void)
{
    if (__builtin_expect(mine != NULL, 1)) return mine;
    struct mine *new = memory_new(1, sizeof *new + (size_t)chain_function_count * sizeof *new->rows);
    if (!new) return NULL; /* out of memory: skip this call */
    new->stream = -1;
    new->next = __atomic_load_n(&all, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&all, &new->next, new, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
    return mine = new;
}

/* Called before the library. With CHAIN_DESCRIPTION, call->description has the peer, the tag and the communicator. */
static void enter(const struct chain_call *call)
{
    (void)call;
    if (find_mine()) mine->entered++;
}

/* Called after the library has returned, with return code, times, messages and bytes. If longjmp or an exception left
 * the call, leave is called as soon as the chain notices, with `abandoned` set. */
static void leave(const struct chain_call *call)
{
    struct mpitx_run *to = __atomic_load_n(&run, __ATOMIC_ACQUIRE);
    if (!find_mine()) return;
    if (call->abandoned) {
        mine->abandoned++;
        return;
    }
    mine->left++;
    if (to) record(to, mine, call);
}

/* Called when a message was sent or received: see mpi/call.h. */
static void completed(const struct chain_call *call, const struct call_completion *completion)
{
    (void)call;
    (void)completion;
    if (find_mine()) mine->completed++;
}

static void thread_end(void)
{
    struct mpitx_run *to = __atomic_load_n(&run, __ATOMIC_ACQUIRE);
    if (to && mine && mine->stream >= 0) mpitx_run_thread_end(to, mine->stream);
    mine = NULL;
}

static const struct chain_observer null_observer = {
    .name = "null", .enter = enter, .leave = leave, .completed = completed, .thread_end = thread_end};

/* ---- life ---- */

static bool records(void) { return agent_config_is("null", "record"); }

/* Called in MPI_Init after the library's; nothing is observed before. A tool that records sets dir. */
static void preparing(void) { if (records()) agent_run_options.dir = agent_config("dir", 0); }

static void started(void)
{
    if (!agent_config("null", 0)) return;
    if (records() && agent_run) {
        if (declare())
            __atomic_store_n(&run, agent_run, __ATOMIC_RELEASE);
        else
            agent_note("null: not recording: no room in the run");
    }
    /* All functions (-1); chain_function_id gives the number of one. */
    on = chain_observe(&null_observer, -1,
                       CHAIN_ENTER | CHAIN_LEAVE | CHAIN_TIMES | CHAIN_DESCRIPTION | CHAIN_COMPLETIONS);
    if (!on) agent_note("null: off: out of memory");
}

/* The run is closed after this, so notes for the run must be made here. Other threads may still be in calls. */
static void ending(enum agent_end end)
{
    (void)end;
    if (!run) return;
    __atomic_store_n(&run, NULL, __ATOMIC_RELEASE);
    if (agent_process.thread_level > 1 || agent_process.thread_level < 0) agent_run_busy = true;
}

/* The run is closed: notes reach only the file of counts=FILE. */
static void ended(const char *how)
{
    struct mine sum = {0};
    (void)how;
    if (!on) return;
    for (const struct mine *m = __atomic_load_n(&all, __ATOMIC_ACQUIRE); m; m = m->next) {
        sum.entered += m->entered;
        sum.left += m->left;
        sum.abandoned += m->abandoned;
        sum.completed += m->completed;
    }
    agent_note("null: %llu calls entered, %llu left, %llu abandoned, %llu messages", (unsigned long long)sum.entered,
               (unsigned long long)sum.left, (unsigned long long)sum.abandoned, (unsigned long long)sum.completed);
}

static const char *const keys[] = {"null", NULL};

const struct agent_tool null_tool = {
    .name = "null", .keys = keys, .preparing = preparing, .started = started, .ending = ending, .ended = ended};
