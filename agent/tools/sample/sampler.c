/* sampler.c: the tool that samples variables: start and end. */
#define _GNU_SOURCE
#include "tools/sample/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define DEFAULT_INTERVAL_NS UINT64_C(10000000)
#define SHORTEST_INTERVAL_NS UINT64_C(1000)
#define DYING_LOCK_NS UINT64_C(100000000)
#define MAX_SETS 32000
static bool prepared;   /* there are variables to sample */
static bool on_request; /* interval_ns=0: samples are taken only when another tool asks for one */

static void select_and_open(void)
{
    struct pvar_object world = {.bind = MPITX_BIND_MPI_COMM, .handle = {.number = agent_process.world}};
    pvar_select();
    if (world.handle.number == 0 || agent_process.sessions) world.bind = MPITX_BIND_NO_OBJECT;
    pvar_try_new(&world);
    struct pvar_group *first = pvar_group_first();
    if (first) pvar_group_declare(first);
    pvar_node_open();
    pvar_note_unmatched(false);
}

/* Starts sampling. From now on objects of variables that need one are tried and opened while the application runs. */
static void begin(void)
{
    uint64_t now = clock_ticks();
    uint64_t duration = agent_config_number("duration_ns", 0);
    sampler_schedule.end = duration ? now + clock_from_nanoseconds(duration) : 0;
    sampler_counts.limit = agent_config_number("count", 0);
    atomic_store(&sampler_state, SAMPLER_ON);
    pvar.started = true;
    if (pvar.follow || pvar.library_count > 0) sampler_follow_objects(true);
    sampler_follow_others();
    if (on_request) {
        atomic_store(&sampler_schedule.next, UINT64_MAX);
        sampler_counts.next_pair = now + clock_from_nanoseconds(UINT64_C(10000000000));
        return;
    }
    if (!sampler_lock()) return;
    atomic_store(&sampler_schedule.next, now);
    sampler_counts.next_pair = now + clock_from_nanoseconds(UINT64_C(10000000000));
    sampler_backoff.stride = sampler_backoff.pace = 1;
    sampler_instant(now, false);
    sampler_unlock();
    mpitx_run_flush(agent_run);
    if (atomic_load(&sampler_state) != SAMPLER_ON) return;
    sampler_thread_start();
    chain_countdown(sampler_call);
}

/* Whether there is anything to sample, if another tool records. */
static bool asked(void)
{
    return !agent_run_options.dir || agent_config("pvar", 0) || agent_config("set", 0) || agent_config("set_after", 0);
}

static void preparing(void)
{
    if (!agent_config("dir", 0) || !asked()) return;
    int saved = errno;
    sampler_schedule.interval_ns = agent_config_number("interval_ns", DEFAULT_INTERVAL_NS);
    on_request = sampler_schedule.interval_ns == 0;
    if (sampler_schedule.interval_ns < SHORTEST_INTERVAL_NS && !on_request)
        sampler_schedule.interval_ns = SHORTEST_INTERVAL_NS;
    pvar_read_patterns();
    prepared = pvar_open();
    if (prepared) {
        if (pvar_wants_library() || pvar_has_settings()) pvar_start_mpi_t();
        agent_run_options.dir = agent_config("dir", 0);
        agent_run_options.interval_ns = sampler_schedule.interval_ns;
        agent_run_options.max_sets = pvar_wants_library() ? MAX_SETS : 0;
    }
    errno = saved;
}

static void started(void)
{
    if (!agent_run || !prepared) return;
    int saved = errno;
    sampler_schedule.interval = clock_from_nanoseconds(sampler_schedule.interval_ns);
    if (sampler_schedule.interval == 0) sampler_schedule.interval = 1;
    pvar_apply_settings();
    select_and_open();
    agent_report_notes();
    begin();
    errno = saved;
}

/* ---- end ---- */

static void last_sample(void)
{
    uint64_t now = clock_ticks(), due = sampler_first_due();
    if (on_request || sampler_over(now, due)) return;
    if (now > due) mpitx_run_missed(agent_run, (now - due) / sampler_schedule.interval);
    pvar_node_read(now, true);
    sampler_take(now);
    mpitx_run_cost(agent_run, 1, clock_nanoseconds(clock_ticks() - now));
}

/* Takes the lock in a process that aborts or exits. The library is not called, because a thread that crashed may hold
 * its locks. For the same reason no memory is allocated or freed. The wait is short. */
static bool lock_dying(const char *how)
{
    if (!sampler_wait_for_lock(DYING_LOCK_NS)) {
        agent_report(MPITX_RUN_WARNING, "%s: the last sample is missing: %s was taking a sample", how,
                     sampler_holds_lock() ? "this thread" : "another thread");
        return false;
    }
    if (atomic_load(&sampler_state) == SAMPLER_ON && pvar_stop_library()) {
        sampler_quiet_end();
        if (!on_request)
            agent_report(MPITX_RUN_INFO,
                         "%s: the last sample has no values of the library's variables, as they cannot be read at "
                         "that time", how);
    }
    return true;
}

static void report_long_samples(uint64_t ns)
{
    uint64_t most = sampler_round_up(ns < 1000 ? 1000 : ns);
    bool us = most < 1000000;
    char text[240];
    snprintf(text, sizeof text,
             "one sample takes up to %llu %s: samples take at most a quarter of the time, and others are not taken; "
             "choose fewer variables or a longer --interval",
             (unsigned long long)(most / (us ? 1000 : 1000000)), us ? "us" : "ms");
    agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED, text);
}

static void report_limits(void)
{
    if (pvar.skipped_objects)
        agent_report(MPITX_RUN_WARNING,
                     "%llu intercommunicators are not sampled: they have more processes on this side than on the "
                     "other, and libraries read past the smaller group", (unsigned long long)pvar.skipped_objects);
    sampler_made_report();
    if (sampler_schedule.longest) report_long_samples(clock_nanoseconds(sampler_schedule.longest));
    if (sampler_counts.library_skipped * 10 > sampler_counts.samples)
        agent_report(MPITX_RUN_WARNING,
                     "the library's variables were sampled only when an MPI call started or ended: MPI_T provides "
                     "MPI_THREAD_MULTIPLE only if the application requests it");
    if (pvar.refused_objects > 1)
        agent_report(MPITX_RUN_WARNING, "%llu objects are not recorded: no room in the run",
                     (unsigned long long)pvar.refused_objects);
}

static void ending(enum agent_end end)
{
    if (!agent_run || !prepared) return;
    int saved = errno;
    bool off = atomic_load(&sampler_state) == SAMPLER_OFF, alone = false;
    if (!off)
        alone = end == AGENT_FINALIZE ? sampler_lock()
                                      : lock_dying(end == AGENT_ABORT ? "MPI_Abort" : "exit without MPI_Finalize");
    if (alone && atomic_load(&sampler_state) == SAMPLER_ON) last_sample();
    atomic_store(&sampler_state, SAMPLER_ENDED);
    atomic_store(&sampler_schedule.next, UINT64_MAX);
    if (alone) sampler_unlock();
    sampler_wake_thread();
    if (alone && end == AGENT_FINALIZE) mpitx_run_await_room(agent_run); /* objects may have used it up */
    pvar_note_unmatched(true);
    report_limits();
    sampler_record_functions();
    agent_run_off |= off;
    pvar.busy |= !alone;
    agent_run_busy |= !alone;
    errno = saved;
}

static void forked(void) { atomic_store(&sampler_state, SAMPLER_OFF); }

static const char *const keys[] = {"interval_ns", "count", "duration_ns", "pvar", "set", "set_after", "probe", "node_root",
                                   NULL};

const struct agent_tool sample_tool = {
    .name = "sample", .keys = keys, .preparing = preparing, .started = started, .object = sampler_object,
    .world_ending = sampler_world_ending, .ending = ending, .forked = forked,
};
