/* sampler.c: the tool that samples variables: start, end, the lock. */
#define _GNU_SOURCE
#include "tools/sample/sampler.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"

#define DEFAULT_INTERVAL_NS UINT64_C(10000000)
#define SHORTEST_INTERVAL_NS UINT64_C(1000)
#define LOCK_NS UINT64_C(10000000000) /* trying variables of windows may take seconds on a busy machine */
#define DYING_LOCK_NS UINT64_C(100000000)
#define MOST_SETS 32000
struct sampler sampler;

/* ---- the lock ---- */

/* Taken by trying, hardly ever waited for; a mutex takes thrice the time. That this thread has it is kept too, for the sample that
 * is left by longjmp. */
static atomic_bool taken;
static AGENT_THREAD bool locked;
static struct cancel cancelable; /* of the thread that has it, before it took it */

bool sampler_try_lock(void)
{
    if (locked || atomic_load_explicit(&taken, memory_order_relaxed))
        return false;
    struct cancel before = cancel_defer();
    if (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        cancel_restore(before);
        return false;
    }
    cancelable = before;
    return locked = true;
}

void sampler_unlock(void)
{
    struct cancel before = cancelable;
    locked = false;
    atomic_store_explicit(&taken, false, memory_order_release);
    cancel_restore(before);
}

static bool wait_for_lock(uint64_t most_ns)
{
    const struct timespec pause = {0, 50000};
    for (uint64_t start = clock_monotonic(); !locked && clock_monotonic() - start < most_ns;) {
        if (sampler_try_lock())
            return true;
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's is where a thread may be cancelled */
    }
    return false;
}

bool sampler_lock(void)
{
    if (wait_for_lock(LOCK_NS))
        return true;
    sampler_off(locked ? "a sample was left by longjmp or an exception" : "a sample did not end");
    if (locked)
        cancel_restore(cancelable);
    return false;
}

void sampler_off(const char *why)
{
    int on = SAMPLER_ON, done = SAMPLER_DONE;
    if (!atomic_compare_exchange_strong(&sampler.state, &on, SAMPLER_OFF))
        atomic_compare_exchange_strong(&sampler.state, &done, SAMPLER_OFF);
    atomic_store(&sampler.next_due, UINT64_MAX);
    chain_countdown(NULL);
    chain_follow_objects(false);
    agent_tell_code(MPITX_RUN_SEVERE, MPITX_RUN_NOTE_SWITCHED_OFF, why);
}

static void select_and_open(void)
{
    struct pvar_object world = {.bind = MPITX_BIND_MPI_COMM, .handle = {.number = agent_process.world}};
    pvar_select();
    if (world.handle.number == 0 || agent_process.sessions)
        world.bind = MPITX_BIND_NO_OBJECT;
    pvar_prove(&world);
    struct pvar_group *first = pvar_group_first();
    if (first)
        pvar_group_declare(first);
    pvar_note_unmatched(false);
}

/* Objects that may be proved and opened while the application runs: those of variables that need one. */
static void begin(void)
{
    uint64_t now = clock_ticks();
    uint64_t duration = agent_config_number("duration_ns", 0);
    sampler.end_ticks = duration ? now + clock_from_nanoseconds(duration) : 0;
    sampler.limit = agent_config_number("count", 0);
    atomic_store(&sampler.state, SAMPLER_ON);
    pvar.started = true;
    if (pvar.follow || pvar.library_count > 0)
        chain_follow_objects(true);
    if (!sampler_lock())
        return;
    atomic_store(&sampler.next_due, now);
    sampler.next_pair = now + clock_from_nanoseconds(UINT64_C(10000000000));
    sampler.stride = sampler.pace = 1;
    sampler_due(now);
    sampler_unlock();
    mpitx_run_flush(agent_run);
    if (atomic_load(&sampler.state) != SAMPLER_ON)
        return;
    sampler_thread_start();
    chain_countdown(sampler_call);
}

static void preparing(void)
{
    if (!agent_config("dir", 0))
        return;
    int saved = errno;
    sampler.interval_ns = agent_config_number("interval_ns", DEFAULT_INTERVAL_NS);
    if (sampler.interval_ns < SHORTEST_INTERVAL_NS)
        sampler.interval_ns = SHORTEST_INTERVAL_NS;
    pvar_read_patterns();
    if (pvar_open()) {
        pvar_start_mpi_t();
        agent_run_options.dir = agent_config("dir", 0);
        agent_run_options.interval_ns = sampler.interval_ns;
        agent_run_options.max_sets = pvar_wants_library() ? MOST_SETS : 0;
    }
    errno = saved;
}

static void started(void)
{
    if (!agent_run)
        return;
    int saved = errno;
    sampler.interval = clock_from_nanoseconds(sampler.interval_ns);
    if (sampler.interval == 0)
        sampler.interval = 1;
    pvar_apply_settings();
    select_and_open();
    agent_tell_notes();
    begin();
    errno = saved;
}

/* ---- end ---- */

static void last_sample(void)
{
    uint64_t now = clock_ticks(), due = atomic_load(&sampler.next_due);
    if (sampler_over(now, due))
        return;
    if (now > due)
        mpitx_run_missed(agent_run, (now - due) / sampler.interval);
    sampler_take(now);
    mpitx_run_cost(agent_run, 1, clock_nanoseconds(clock_ticks() - now));
}

/* On the way out of a process that aborts or exits no function of the library is called, whose locks a thread that crashed may
 * hold; no memory is allocated or freed, for the same reason; and nobody is waited for long. */
static bool lock_dying(const char *how)
{
    if (!wait_for_lock(DYING_LOCK_NS)) {
        agent_tell(MPITX_RUN_WARNING, "%s: the last sample is missing: %s was taking one", how, locked ? "this thread" : "another thread");
        return false;
    }
    if (atomic_load(&sampler.state) == SAMPLER_ON && pvar_leave_library()) {
        sampler_quiet_end();
        agent_tell(MPITX_RUN_INFO, "%s: the last sample has no values of the library's variables, which cannot be read then", how);
    }
    return true;
}

static void tell_losses(void)
{
    struct chain_losses losses = chain_losses();
    if (losses.requests)
        agent_tell(MPITX_RUN_WARNING, "%llu requests found the agent's table full, or held too long by another thread: their messages are not counted, or they stay outstanding", (unsigned long long)losses.requests);
    if (losses.frames)
        agent_tell(MPITX_RUN_WARNING, "%llu calls were nested too deep to be told apart", (unsigned long long)losses.frames);
    if (losses.memory)
        agent_tell(MPITX_RUN_WARNING, "%llu times the agent was refused memory", (unsigned long long)losses.memory);
    if (pvar.skipped_objects)
        agent_tell(MPITX_RUN_WARNING, "intercommunicators with more processes on this side than on the other are not sampled: libraries read beyond the smaller group (%llu times)", (unsigned long long)pvar.skipped_objects);
    if (agent_process.spawned) {
        char count[24];
        snprintf(count, sizeof count, "%llu", (unsigned long long)agent_process.spawned);
        agent_tell_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_SPAWNED, count);
    }
    if (sampler.library_skipped * 10 > sampler.samples)
        agent_tell(MPITX_RUN_WARNING, "the library's variables were sampled when an MPI call began or ended, and not in a long call or between calls: MPI_T does not grant MPI_THREAD_MULTIPLE, as the application does not have it");
    if (pvar.refused_objects > 1)
        agent_tell(MPITX_RUN_WARNING, "%llu objects found no room in the run", (unsigned long long)pvar.refused_objects);
}

static void ending(enum agent_end end)
{
    if (!agent_run)
        return;
    int saved = errno;
    bool off = atomic_load(&sampler.state) == SAMPLER_OFF, alone = false;
    if (!off)
        alone = end == AGENT_FINALIZE ? sampler_lock() : lock_dying(end == AGENT_ABORT ? "MPI_Abort" : "exit without MPI_Finalize");
    if (alone && atomic_load(&sampler.state) == SAMPLER_ON)
        last_sample();
    atomic_store(&sampler.state, SAMPLER_ENDED);
    atomic_store(&sampler.next_due, UINT64_MAX);
    if (alone)
        sampler_unlock();
    sampler_thread_stop();
    pvar_note_unmatched(true);
    tell_losses();
    sampler_tell_functions();
    agent_run_off |= off;
    agent_run_busy |= !alone;
    errno = saved;
}

static void forked(void)
{
    atomic_store(&sampler.state, SAMPLER_OFF);
}

static const char *const keys[] = {"interval_ns", "count", "duration_ns", "pvar", "set", "set_after", "probe", NULL};

const struct agent_tool sample_tool = {
    .name = "sample", .keys = keys, .preparing = preparing, .started = started, .object = sampler_object,
    .world_ending = sampler_world_ending, .ending = ending, .forked = forked,
};
