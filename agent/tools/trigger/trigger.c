/* trigger.c: the tool that checks conditions in MPI calls.
 *
 * A condition over variables fires when it becomes true, and again after it was false. A condition over a call's
 * arguments alone fires in each call in which it is true. */
#include "tools/trigger/trigger.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "mpi/library.h"
#include "tools/objects/objects.h"

static struct mpitx_run *run; /* NULL: nothing is checked */
static AGENT_THREAD struct trigger_thread *mine;

/* ---- checks ---- */

static struct trigger_thread *find_mine(void)
{
    if (__builtin_expect(mine != NULL, 1)) return mine;
    struct trigger_thread *new = memory_new(1, sizeof *new); /* kept: its rows stay in the run */
    if (new) new->stream = -1;
    return mine = new;
}

static bool matches(const struct program_subject *subject, int name)
{
    const struct trigger_check *check = (const struct trigger_check *)subject;
    return check->trigger->functions[subject->call->function] >> (1 + name) & 1;
}

static bool becomes_true(struct trigger *t, double result)
{
    if (isnan(result)) return false;
    bool holds = result != 0;
    if (t->program.load_count == 0) return holds;
    if (atomic_load_explicit(&t->holds, memory_order_relaxed) == holds) return false;
    return !atomic_exchange_explicit(&t->holds, holds, memory_order_relaxed) && holds;
}

static inline void check(struct trigger_thread *thread, struct trigger *t, const struct chain_call *call)
{
    struct trigger_check c;
    c.subject = (struct program_subject){call, trigger_load, trigger_comm, matches};
    c.trigger = t;
    c.now = 0;
    c.locked = c.busy = false;
    for (int i = 0; i < PROGRAM_LOADS; i++) c.values[i] = NAN;
    double result = program_run(&t->program, &c.subject);
    if (c.locked) sampler_unlock();
    struct trigger_row *row = trigger_row(thread, t);
    if (row && mpitx_run_row_begin(run, &row->head)) {
        row->checked += !c.busy;
        row->missed += c.busy;
        row->held += !c.busy && !isnan(result) && result != 0;
        mpitx_run_row_end(&row->head);
    }
    if (!c.busy && becomes_true(t, result)) trigger_fire(thread, &c);
}

static inline void check_all(const struct chain_call *call, bool at_return)
{
    if (!__atomic_load_n(&run, __ATOMIC_ACQUIRE)) return;
    struct trigger_thread *thread = find_mine();
    for (int i = 0; thread && i < trigger_count; i++) {
        struct trigger *t = &triggers[i];
        if ((t->functions[call->function] & 1) && t->at_return == at_return) check(thread, t, call);
    }
}

static void enter(const struct chain_call *call) { check_all(call, false); }

static void leave(const struct chain_call *call) { if (!call->abandoned) check_all(call, true); }

static void thread_end(void)
{
    struct mpitx_run *to = __atomic_load_n(&run, __ATOMIC_ACQUIRE);
    if (to && mine && mine->stream >= 0) mpitx_run_thread_end(to, mine->stream);
    mine = NULL;
}

static const struct chain_observer observer =
    {.name = "trigger", .enter = enter, .leave = leave, .thread_end = thread_end};

/* What a trigger needs of a function's calls. Requests are followed from their start for the bytes they receive. */
static unsigned wants(const struct trigger *t, int function)
{
    unsigned traffic = t->uses_transfers && (chain_functions[function].traffic & CALL_REQUESTS) ? CHAIN_DESCRIPTION : 0;
    if (!(t->functions[function] & 1)) return traffic;
    return traffic | (t->at_return ? CHAIN_LEAVE : CHAIN_ENTER) |
           (t->uses_arguments || (t->actions & TRIGGER_EVENT) ? CHAIN_DESCRIPTION : 0) |
           (t->uses_time ? CHAIN_TIMES : 0);
}

static bool observe(void)
{
    bool ok = true;
    for (int f = 0; f < chain_function_count; f++) {
        unsigned all = 0;
        for (int i = 0; i < trigger_count; i++) all |= wants(&triggers[i], f);
        if (all) ok &= chain_observe(&observer, f, all);
    }
    return ok;
}

/* ---- life ---- */

static bool wanted(void) { return agent_config("trigger", 0) != NULL; }

static void preparing(void) { if (wanted()) agent_run_options.dir = agent_config("dir", 0); }

static void started(void)
{
    bool deep = false;
    if (!wanted() || !agent_run) return;
    trigger_configure();
    if (trigger_count == 0) return;
    if (!objects_start() || !trigger_declare()) {
        agent_note("trigger: conditions are not checked: no room in the run");
        return;
    }
    for (int i = 0; i < trigger_count; i++) deep |= triggers[i].actions & TRIGGER_BACKTRACE;
    if ((deep || library_has_between()) && !chain_unwind_start())
        agent_note("trigger: no call stacks: libgcc_s.so.1 is missing");
    if (trigger_has_names()) chain_follow_objects(true);
    __atomic_store_n(&run, agent_run, __ATOMIC_RELEASE);
    if (!observe()) agent_note("trigger: some calls are not checked: out of memory");
}

static void ending(enum agent_end end)
{
    (void)end;
    if (!run) return;
    __atomic_store_n(&run, NULL, __ATOMIC_RELEASE);
    if (agent_process.thread_level > 1 || agent_process.thread_level < 0) agent_run_busy = true;
}

static void forked(void) { run = NULL; }

static const char *const keys[] = {"trigger", NULL};

const struct agent_tool trigger_tool = {
    .name = "trigger", .keys = keys, .preparing = preparing, .started = started, .object = trigger_object,
            .ending = ending, .forked = forked};
