/* processor.c: the table "processor": one row for each thread that calls MPI.
 *
 * The kernel's counters are read at calls that start or end, at most every PACE_NS, and what ended between two readings
 * is attributed as far as it is certain: if a thread was outside of MPI for o and inside for i, and ran for r, then it
 * ran outside for at least r - i and at most o. A stretch that is longer than PACE_NS is so known to within PACE_NS,
 * whatever comes before and after it. */
#define _GNU_SOURCE
#include "run/fields.h"
#include "tools/processor/processor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/processor.h"

#define PACE_NS 250000
#define PROCESS_NS 100000000 /* between readings of the whole process */
enum { ROWS = 256 };

struct processor_row {
    struct mpitx_run_row head;
    uint32_t main, cores, estimated, partial;
    double quota;
    uint64_t quota_group, mask[PROCESSOR_WORDS];
    uint64_t process_time, process_wait;                         /* of the row of the main thread */
    uint64_t inside, outside, time, wait;
    uint64_t ran_least, ran_most, waited_least, waited_most, slept_least, slept_most; /* outside of MPI */
};

static const struct mpitx_run_field fields[] = {
    NUMBER("main", U32), NUMBER("cores", U32, .merge = MPITX_RUN_MAX),
    NUMBER("estimated", U32, .merge = MPITX_RUN_MAX), NUMBER("partial", U32, .merge = MPITX_RUN_MAX),
    NUMBER("quota", F64, .merge = MPITX_RUN_MAX), NUMBER("quota_group", U64, .merge = MPITX_RUN_MAX),
    NUMBER("mask", U64, .merge = MPITX_RUN_MAX, .count = PROCESSOR_WORDS), NANOSECONDS("process_time"),
    NANOSECONDS("process_wait"), NANOSECONDS("inside"), NANOSECONDS("outside"), NANOSECONDS("time"),
    NANOSECONDS("wait"), NANOSECONDS("ran_least"), NANOSECONDS("ran_most"), NANOSECONDS("waited_least"),
    NANOSECONDS("waited_most"), NANOSECONDS("slept_least"), NANOSECONDS("slept_most"),
};

AGENT_THREAD struct processor_thread processor_own;
uint64_t processor_pace;
static int table = -1;
static bool on, splits, partial; /* partial: some functions count as time outside of MPI */
static uint64_t process_read, process_time, process_wait; /* ticks; at the start */

static uint64_t less(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }
static uint64_t least_of(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- readings ---- */

/* Attributes what the thread has waited since the last reading of waits. */
static void read_waits(struct processor_thread *thread, struct processor_row *row)
{
    struct processor_switches switches = processor_thread_switches();
    bool slept = switches.voluntary > thread->switches.voluntary,
                 left = switches.involuntary > thread->switches.involuntary;
    uint64_t now, waited_least, waited_most;
    if (processor_waits_known() && processor_thread_wait(row->head.thread, &now)) {
        uint64_t waited = less(now, thread->wait);
        row->wait += waited;
        thread->wait = now;
        waited_least = least_of(less(waited, thread->idle_inside_most), thread->idle_outside_most);
        waited_most = least_of(waited, thread->idle_outside_most);
    } else {
        row->estimated = 1;
        row->wait += left ? thread->idle : 0;
        waited_least = left && !slept ? thread->idle_outside_least : 0;
        waited_most = left ? thread->idle_outside_most : 0;
    }
    row->waited_least += waited_least;
    row->waited_most += waited_most;
    if (slept) {
        row->slept_least += less(thread->idle_outside_least, waited_most);
        row->slept_most += less(thread->idle_outside_most, waited_least);
    }
    thread->switches = switches;
    thread->idle_outside_least = thread->idle_outside_most = thread->idle_inside_most = thread->idle = 0;
}

static void read_process(struct processor_row *row, uint64_t now)
{
    if (!row->main || (process_read && now - process_read < clock_from_nanoseconds(PROCESS_NS))) return;
    process_read = now;
    row->partial = partial;
    row->cores = processor_cores(row->mask);
    row->process_time = processor_process_time() - process_time;
    row->process_wait = less(processor_process_wait(true), process_wait);
}

/* Attributes what the thread has run since the last reading. */
static void read_time(struct processor_thread *thread, uint64_t now, bool whole)
{
    struct processor_row *row = thread->row;
    if (!mpitx_run_row_begin(agent_run, &row->head)) return;
    uint64_t time = processor_thread_time(), outside = clock_nanoseconds(thread->outside),
                    inside = clock_nanoseconds(thread->inside);
    uint64_t ran = least_of(less(time, thread->time), outside + inside);
    uint64_t least = less(ran, inside), most = least_of(ran, outside);
    row->outside += outside;
    row->inside += inside;
    row->time += ran;
    row->ran_least += least;
    row->ran_most += most;
    thread->idle_outside_least += outside - most;
    thread->idle_outside_most += outside - least;
    thread->idle_inside_most += inside - (ran - most);
    thread->idle += outside + inside - ran;
    if (whole || thread->idle >= PACE_NS) read_waits(thread, row);
    read_process(row, now);
    mpitx_run_row_end(&row->head);
    thread->time = time;
    thread->read = now;
    thread->inside = thread->outside = 0;
}

static bool begin(struct processor_thread *thread, uint64_t now, bool leads)
{
    static uint32_t count;
    struct processor_row row = {.main = leads};
    if (thread->failed) return false;
    thread->failed = true;
    if (__atomic_fetch_add(&count, 1, __ATOMIC_RELAXED) >= ROWS) return false;
    row.cores = processor_cores(row.mask);
    row.quota = processor_quota(&row.quota_group);
    row.estimated = !processor_waits_known();
    thread->row = (struct processor_row *)mpitx_run_row(agent_run, table, &row);
    if (!thread->row) return false;
    thread->last = thread->read = now;
    thread->time = processor_thread_time();
    thread->switches = processor_thread_switches();
    if (!row.estimated) processor_thread_wait(thread->row->head.thread, &thread->wait);
    return true;
}

/* ---- calls ---- */

void processor_read(struct processor_thread *thread, uint64_t now)
{
    if (__atomic_load_n(&on, __ATOMIC_RELAXED)) read_time(thread, now, false);
}

static void enter(const struct chain_call *call)
{
    struct processor_thread *thread = &processor_own;
    if (call->depth > 0 || !call->enter || !__atomic_load_n(&on, __ATOMIC_RELAXED)) return;
    if (__builtin_expect(thread->row == NULL, 0) && !begin(thread, call->enter, false)) return;
    processor_passes(thread, call->enter, true);
}

static void end_own(void)
{
    struct processor_thread *thread = &processor_own;
    if (!thread->row || !__atomic_load_n(&on, __ATOMIC_RELAXED)) return;
    uint64_t now = clock_ticks();
    if (splits) processor_passes(thread, now, !thread->in);
    read_time(thread, now, true);
    thread->row = NULL;
    thread->failed = false;
}

static const struct chain_observer observer = {.name = "processor", .enter = enter, .thread_end = end_own};

bool processor_observe(int function, bool counts)
{
    splits = splits || counts;
    partial = partial || !counts;
    return !counts || table < 0 || chain_observe(&observer, function, CHAIN_ENTER | CHAIN_TIMES);
}

/* ---- life ---- */

static void started(void)
{
    uint32_t bytes = 0;
    if (!agent_run) return;
    table = mpitx_run_declare_table(agent_run, "processor", fields, COUNT(fields), 1, &bytes);
    if (table < 0 || bytes != sizeof(struct processor_row)) {
        table = -1;
        return;
    }
    processor_pace = clock_from_nanoseconds(PACE_NS);
    process_time = processor_process_time();
    process_wait = processor_process_wait(true);
    __atomic_store_n(&on, true, __ATOMIC_RELAXED);
    begin(&processor_own, clock_ticks(), true);
}

static void ending(enum agent_end end)
{
    (void)end;
    process_read = 0;
    end_own();
    __atomic_store_n(&on, false, __ATOMIC_RELAXED);
}

static void forked(void) { on = false; }

const struct agent_tool processor_tool = {.name = "processor", .started = started, .ending = ending, .forked = forked};
