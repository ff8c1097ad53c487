/* thread.c: the thread that samples when no call does.
 *
 * A timer wakes it some time after a sample was due. Setting a timer takes 1 us, but 10 to 20 us in a virtual machine if it is, or was, the
 * next one to fire on this core, because the hardware has to be set. Therefore:
 *
 *   - While calls sample on time, one timer is kept some milliseconds ahead, after the system's next tick. Instants missed before the
 *     thread notices that calls have stopped are counted.
 *   - While the thread samples, two timers alternate, so that the one being set is never the next to fire. They fire at multiples of the
 *     interval, some of which are system ticks.
 *   - If the interval is long, each sample moves one timer.
 *
 * The timers use a signal that is sent to this thread only, blocked there and fetched, so that no handler, mask or descriptor of the
 * application changes. It is none of those that the C library reserves for itself: code that blocks all signals for a moment on this thread
 * and restores the mask would unblock them, as pthread_sigmask leaves them out, and they would end the process.
 *
 * If no processor is free, calls sample in its place where they can (attend.c), and it samples only some instants while values are constant (quiet.c). At the start, the number of processes
 * decides whether one is free; later the thread measures how its wake-ups affect the process's other threads (pace.c).
 *
 * It does not sample below 1 ms unless a processor is free, and it samples the library's variables only if MPI_T provides
 * MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/core.h"
#include "tools/sample/sampler.h"
#include "tools/sample/pace.h"

#define SHORTEST_NS UINT64_C(1000000)
#define MAX_GRACE_NS UINT64_C(5000000)
#define AWAY_NS UINT64_C(8000000)
#define NEAR_NS UINT64_C(5000000) /* after the next tick of a kernel with 250 Hz */
#define MAX_AWAY_NS UINT64_C(32000000)
#define AWAY_SHARE 32 /* fraction of the time for which calls have been on time */
#define LATE 8      /* added to doubt by a late call; a call on time subtracts 1 */
#define DOUBT 16    /* from this doubt on, the thread checks each sample until doubt is 0 */
#define MAX_DOUBT 32
#define RELY_AFTER 256 /* samples of the thread, after which calls may attend again */
#define CALLS_ALONE "samples are taken only when an MPI call starts or ends, not in a long call or between calls"
#define SIGNAL 62
#define SIGNAL_MASK (UINT64_C(1) << (SIGNAL - 1))

static int timers[2]; /* kernel timer IDs */
static _Atomic bool timed;
static uint64_t grace; /* ticks that calls have for taking a due sample */
static uint64_t min_away, max_away; /* how far ahead the timer is kept while calls are on time */
static uint64_t min_near; /* it is set again if it is nearer than this, or than a quarter of that */
static bool often;     /* the interval is shorter than min_away */
static uint64_t armed[2]; /* the times they are set to; 0: not set. This and the following: under the lock */
static uint64_t steady; /* start of the time for which calls have been on time */
static int doubt;
static bool careful;   /* the thread checks each sample */
static bool filling;   /* the thread is sampling */
static bool full;      /* no core is free: each sample of the thread interrupts a process of the job */
static struct sampler_pace pace;
static bool virtual_only;  /* the thread does not sample the library's variables */
static cpu_set_t core; /* the cores to which the thread moves; empty: it does not */

/* Converts ticks near now to CLOCK_MONOTONIC's nanoseconds, relative to now, as the clocks drift apart. */
static uint64_t point(uint64_t ticks)
{
    uint64_t now = clock_ticks(), monotonic = clock_kernel();
    return ticks >= now ? monotonic + clock_nanoseconds(ticks - now) : monotonic - clock_nanoseconds(now - ticks);
}

static void arm(int which, uint64_t ticks)
{
    if (armed[which] == ticks)
        return;
    armed[which] = ticks;
    uint64_t at = ticks ? point(ticks) : 0;
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    syscall(SYS_timer_settime, timers[which], TIMER_ABSTIME, &when, NULL);
}

/* When the thread checks for a due sample: during back-off, for the last one of the stride. */
static uint64_t check_time(uint64_t due) { return due + (sampler.stride - 1) * sampler.interval + grace; }

/* Sets both timers, for the due sample and the one after it. */
static void arm_both(uint64_t due)
{
    uint64_t stride = sampler.stride * sampler.interval, at = check_time(due);
    int which = due / stride & 1;
    arm(which, at);
    arm(!which, at + stride);
}

/* Whether this thread lost its processor: then a late call does not mean that calls are rare. */
static bool preempted(void)
{
    static _Thread_local long switches;
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0)
        return false;
    bool more = usage.ru_nivcsw != switches;
    switches = usage.ru_nivcsw;
    return more;
}

static void set_doubt(int to)
{
    doubt = to < MAX_DOUBT ? to : MAX_DOUBT;
    careful = careful ? doubt > 0 : doubt >= DOUBT;
}

static void rely_on_calls(void)
{
    if (sampler_attend_start())
        doubt = careful = 0;
}

static uint64_t away(uint64_t now)
{
    uint64_t share = (now - steady) / AWAY_SHARE;
    return share < min_away ? min_away : share > max_away ? max_away : share;
}

void sampler_thread_arm(uint64_t now, uint64_t due, bool late)
{
    if (!atomic_load_explicit(&timed, memory_order_relaxed) || filling)
        return;
    if (!often) {
        arm(0, due + grace);
        return;
    }
    bool before = careful;
    if (late && sampler.interval_ns >= SHORTEST_NS && !preempted())
        set_doubt(doubt + LATE);
    else if (doubt > 0)
        set_doubt(doubt - 1);
    if (careful && !before && full && !sampler.attends)
        rely_on_calls();
    if (careful && !before) {
        sampler_attend_end();
        arm_both(due); /* from now on the thread sets them itself */
    } else if (!careful && (armed[0] < now + min_near || armed[0] < now + away(now) / 4)) {
        arm(0, now + away(now));
        arm(1, 0);
    }
}

void sampler_thread_alert(void)
{
    sampler_quiet_end();
    if (atomic_load(&timed) && atomic_load(&sampler.state) == SAMPLER_ON)
        arm(0, check_time(atomic_load(&sampler.next_due)));
}

uint64_t sampler_thread_align(uint64_t due)
{
    if (!often)
        return due;
    uint64_t rest = point(due + grace) % sampler.interval_ns;
    if (rest > sampler.interval_ns / 2)
        return due + clock_from_nanoseconds(sampler.interval_ns - rest);
    return due - clock_from_nanoseconds(rest);
}

uint64_t sampler_thread_grace(void) { return grace; }

void sampler_thread_stop(void)
{
    if (!atomic_load(&timed))
        return;
    struct itimerspec soon = {.it_value = {0, 1}};
    syscall(SYS_timer_settime, timers[0], 0, &soon, NULL);
}

static bool make_timers(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGNAL;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    uint64_t mask = SIGNAL_MASK;
    return syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask) == 0 &&
           syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timers[0]) == 0 && (event.sigev_value.sival_int = 1) &&
           syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timers[1]) == 0;
}

/* Waits for a timer and returns which one fired, -1 for none. Returns false if waiting is impossible. */
static bool wait_for_timer(int *fired)
{
    uint64_t mask = SIGNAL_MASK;
    siginfo_t info;
    long rc = syscall(SYS_rt_sigtimedwait, &mask, &info, NULL, sizeof mask);
    *fired = rc == SIGNAL ? info.si_value.sival_int & 1 : -1;
    return rc == SIGNAL || errno == EINTR || errno == EAGAIN;
}

static bool over(void)
{
    return atomic_load(&sampler.state) != SAMPLER_ON || agent_process.state == AGENT_DORMANT;
}

/* Waits for the lock, as the timer fires only once, but not after the end. */
static bool wait_for_lock(void)
{
    struct timespec pause = {0, 200000};
    while (!sampler_try_lock()) {
        if (over())
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

static void arm_again(uint64_t now, uint64_t due)
{
    if (often && careful)
        arm_both(due);
    else
        arm(0, often && due + grace < now + away(now) ? now + away(now) : due + grace);
}

/* Assesses the thread's wake-ups by the involuntary switches of other threads. While calls sample, there is nothing to assess. */
static void watch_pace(bool sampled)
{
    static uint64_t wakes, before;
    struct rusage all, own;
    if (!sampled)
        wakes = 0;
    if (full || !often || !sampled || (wakes > 0 && ++wakes <= SAMPLER_PACE_WINDOW))
        return;
    if (getrusage(RUSAGE_SELF, &all) != 0 || getrusage(RUSAGE_THREAD, &own) != 0)
        return;
    uint64_t interruptions = (uint64_t)(all.ru_nivcsw - own.ru_nivcsw);
    if (wakes > 0 && sampler_pace_update(&pace, SAMPLER_PACE_WINDOW, interruptions - before)) {
        static bool reported;
        sampler.pace = sampler_pace_stride(&pace, sampler.interval_ns);
        sampler_quiet_end();
        if (sampler.pace > 1 && !reported)
            agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED, "the process computes on all cores: outside of MPI calls the agent samples at most every 1 ms, to keep its cost low");
        reported |= sampler.pace > 1;
    }
    before = interruptions;
    wakes = 1; /* the next window starts here */
}

/* After a sample in a long call, or while calls do not attend. */
static void take_over(void)
{
    static unsigned samples;
    sampler_attend_end();
    set_doubt(MAX_DOUBT);
    if (full && ++samples % RELY_AFTER == 0)
        rely_on_calls();
}

static void *fill_in(void *unused)
{
    (void)unused;
    agent_thread_begins();
    if (CPU_COUNT(&core) > 0)
        sched_setaffinity(0, sizeof core, &core);
    if (!make_timers()) {
        agent_report(MPITX_RUN_WARNING, "no timer: " CALLS_ALONE);
        return NULL;
    }
    atomic_store(&timed, true);
    int fired = -1;
    while (wait_for_lock()) { /* others may be sampling, opening handles, or ending */
        uint64_t now = clock_ticks();
        if (fired >= 0)
            armed[fired] = 0;
        if (now >= atomic_load(&sampler.next_due)) {
            filling = true;
            sampler.compares = full || pace.crowded;
            pvar.virtual_only = virtual_only;
            bool outside = sampler_attend_outside();
            sampler_due(now);
            sampler.outside = pvar.virtual_only = false;
            sampler.compares = sampler.stride > 1 || sampler.attends;
            filling = false;
            steady = now;
            if (!outside)
                take_over();
            watch_pace(true);
        } else {
            watch_pace(false);
        }
        if (!over())
            arm_again(now, atomic_load(&sampler.next_due));
        sampler_unlock();
        if (over() || !wait_for_timer(&fired))
            break;
    }
    return NULL;
}

void sampler_thread_start(void)
{
    if (!pvar.pattern_count)
        return; /* only control variables are written */
    uint64_t grace_ns = sampler.interval_ns / (sampler.interval_ns < 2 * MAX_GRACE_NS ? 4 : 2);
    if (grace_ns > MAX_GRACE_NS)
        grace_ns = MAX_GRACE_NS;
    grace = clock_from_nanoseconds(grace_ns);
    min_away = clock_from_nanoseconds(AWAY_NS);
    min_near = clock_from_nanoseconds(NEAR_NS);
    max_away = clock_from_nanoseconds(MAX_AWAY_NS);
    often = sampler.interval < min_away;
    steady = clock_ticks();
    sampler.next_align = 0;
    set_doubt(MAX_DOUBT);
    virtual_only = pvar.mpi_t && pvar.t_level != MPITX_THREAD_MULTIPLE;
    if (virtual_only && !pvar_has_virtual()) {
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED, "MPI_T provides MPI_THREAD_MULTIPLE only if the application requests it: " CALLS_ALONE);
        return;
    }
    full = !core_free(&core);
    if (full && sampler.interval_ns < SHORTEST_NS) {
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_REDUCED, "the interval is below 1 ms and no processor is free: " CALLS_ALONE);
        return;
    }
    full = full && often;
    if (full)
        rely_on_calls();
    pthread_t thread;
    int rc = agent_thread(&thread, fill_in, NULL);
    if (rc) {
        agent_report(MPITX_RUN_WARNING, "no thread (%s): " CALLS_ALONE, strerror(rc));
        return;
    }
    pthread_detach(thread);
    sampler.threaded = true;
}
