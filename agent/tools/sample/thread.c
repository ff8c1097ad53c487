/* thread.c: the thread that samples when no call does. A timer wakes it some time after a sample was due (timer.c).
 *
 * If no processor is free, calls sample in its place where they can, and it samples only some instants while values are
 * constant (backoff.c). At the start, the number of processes decides whether one is free; later the thread measures
 * how its wake-ups affect the process's other threads (pace.c).
 *
 * It does not sample below 1 ms unless a processor is free, and it samples the library's variables only if MPI_T
 * provides MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/core.h"
#include "tools/sample/pace.h"
#include "tools/sample/sampler.h"

#define CALLS_ALONE "samples are taken only when an MPI call starts or ends, not in a long call or between calls"

static struct sampler_pace pace;
static bool virtual_only; /* the thread does not sample the library's variables */
static cpu_set_t core; /* the cores to which the thread moves; empty: it does not */

static bool over(void) { return atomic_load(&sampler_state) != SAMPLER_ON || agent_process.state == AGENT_DORMANT; }

/* Waits for the lock, as the timer fires only once, but not after the end. */
static bool wait_for_lock(void)
{
    struct timespec pause = {0, 200000};
    while (!sampler_try_lock()) {
        if (over()) return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* Assesses the thread's wake-ups by the involuntary switches of other threads. While calls sample, there are none. */
static void watch_pace(bool sampled)
{
    static uint64_t wakes, before;
    struct rusage all, own;
    if (!sampled) wakes = 0;
    if (sampler_full || !sampler_often || !sampled || (wakes > 0 && ++wakes <= SAMPLER_PACE_WINDOW)) return;
    if (getrusage(RUSAGE_SELF, &all) != 0 || getrusage(RUSAGE_THREAD, &own) != 0) return;
    uint64_t interruptions = (uint64_t)(all.ru_nivcsw - own.ru_nivcsw);
    if (wakes > 0 && sampler_pace_update(&pace, SAMPLER_PACE_WINDOW, interruptions - before)) {
        static bool reported;
        sampler_backoff.pace = sampler_pace_stride(&pace, sampler_schedule.interval_ns);
        sampler_quiet_end();
        if (sampler_backoff.pace > 1 && !reported)
            agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED,
                              "the process computes on all cores: outside of MPI calls the agent samples at most "
                              "every 1 ms, to keep its cost low");
        reported |= sampler_backoff.pace > 1;
    }
    before = interruptions;
    wakes = 1; /* the next window starts here */
}

static void *fill_in(void *unused)
{
    (void)unused;
    agent_thread_begins();
    if (CPU_COUNT(&core) > 0) sched_setaffinity(0, sizeof core, &core);
    if (!sampler_timer_make()) {
        agent_report(MPITX_RUN_WARNING, "no timer: " CALLS_ALONE);
        return NULL;
    }
    int fired = -1;
    while (wait_for_lock()) { /* others may be sampling, opening handles, or ending */
        uint64_t now = clock_ticks();
        if (now >= atomic_load(&sampler_schedule.next)) {
            sampler_backoff.compares = sampler_full || pace.crowded;
            pvar.virtual_only = virtual_only;
            bool outside = sampler_attend_outside();
            sampler_instant(now, true);
            sampler_backoff.outside = pvar.virtual_only = false;
            sampler_backoff.compares = sampler_backoff.stride > 1 || sampler_backoff.attends;
            sampler_timer_sampled(now, outside);
            watch_pace(true);
        } else {
            watch_pace(false);
        }
        if (!over()) sampler_timer_again(fired, now, atomic_load(&sampler_schedule.next));
        sampler_unlock();
        if (over() || !sampler_timer_wait(&fired)) break;
    }
    return NULL;
}

void sampler_thread_start(void)
{
    if (!pvar.pattern_count) return; /* only control variables are written */
    sampler_timer_start();
    virtual_only = pvar.mpi_t && pvar.t_level != MPITX_THREAD_MULTIPLE;
    if (virtual_only && !pvar_has_virtual()) {
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED,
                          "MPI_T provides MPI_THREAD_MULTIPLE only if the application requests it: " CALLS_ALONE);
        return;
    }
    sampler_full = !core_free(&core);
    if (sampler_full && sampler_schedule.interval_ns < SAMPLER_SHORTEST_NS) {
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED,
                          "the interval is below 1 ms and no processor is free: " CALLS_ALONE);
        return;
    }
    sampler_full = sampler_full && sampler_often;
    if (sampler_full) sampler_rely_on_calls();
    pthread_t thread;
    int rc = agent_thread(&thread, fill_in, NULL);
    if (rc) {
        agent_report(MPITX_RUN_WARNING, "no thread (%s): " CALLS_ALONE, strerror(rc));
        return;
    }
    pthread_detach(thread);
}
