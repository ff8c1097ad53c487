/* thread.c: the thread that samples when no call has done so.
 *
 * A timer wakes it some time after a sample was due. Setting a timer takes 1 us, but 10 to 20 in virtual machines where it is, or
 * was, the next one to fire on this core and the hardware has to be set. So:
 *
 *   - while calls sample on time, one timer is kept some milliseconds away, beyond the system's next tick; what is missed before
 *     the thread notices that calls have ceased is counted;
 *   - while the thread samples, two timers take turns: the one that is set anew is never the next. They fire at multiples of the
 *     interval, some of which are the system's own ticks;
 *   - where the interval is long, one timer is moved by each sample.
 *
 * The timers' signal is one that the C library keeps for itself, sent to this thread alone, blocked there and fetched: no
 * handler, mask or descriptor of the application is touched.
 *
 * If no processor is free it looks at some instants only while no value changes (quiet.c). The number of processes decides at the
 * start whether one is free; later the thread measures what its wakes do to the process's own threads (pace.c).
 *
 * It does not sample below 1 ms unless a processor is free, and the library's variables only where MPI_T grants
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
#include "tools/sample/sampler.h"
#include "tools/sample/pace.h"

#define SHORTEST_NS UINT64_C(1000000)
#define MOST_GRACE_NS UINT64_C(5000000)
#define AWAY_NS UINT64_C(8000000)
#define NEAR_NS UINT64_C(5000000) /* beyond the next tick of a kernel with 250 a second */
#define MOST_AWAY_NS UINT64_C(32000000)
#define AWAY_SHARE 32 /* of the time that calls have been on time */
#define LATE 8      /* what a late call adds to the doubt whether calls are on time; one on time takes 1 from it */
#define DOUBT 16    /* from here on the thread looks after each sample, until there is none left */
#define MOST_DOUBT 32
#define CALLS_ALONE "samples are taken when an MPI call begins or ends, and none in a long call or between calls"
#define SIGNAL 32          /* glibc's first internal one, as its own timer threads use it */
#define SIGNAL_MASK (UINT64_C(1) << (SIGNAL - 1))

static int timers[2]; /* the kernel's */
static _Atomic bool timed;
static uint64_t grace; /* ticks that calls have to take a sample that is due */
static uint64_t least_away, most_away; /* where the timer is kept while calls are on time */
static uint64_t least_near; /* it is set again when it is nearer than this, or than a quarter of the way */
static bool often;     /* the interval is shorter than least_away */
static uint64_t armed[2]; /* the times they are set to, 0: not; under the lock, like what follows */
static uint64_t steady; /* since when calls have been on time */
static int doubt;
static bool careful;   /* the thread looks after each sample */
static bool filling;   /* it is the thread that samples */
static bool full;      /* no core is left for the thread: each of its samples interrupts a process of the job */
static struct sampler_pace pace;
static bool own_only;  /* it leaves the library's variables alone */
static cpu_set_t core; /* where the thread moves to; empty: nowhere */

/* A moment that is not far, as CLOCK_MONOTONIC's nanoseconds; by the clocks of now, as they part in the long run. */
static uint64_t point(uint64_t ticks)
{
    uint64_t now = clock_ticks(), monotonic = clock_monotonic();
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

/* When the thread is to look for a sample that is due: of a stride for the last. */
static uint64_t look_at(uint64_t due) { return due + (sampler.stride - 1) * sampler.interval + grace; }

/* For the sample that is due, and the one after it. */
static void arm_both(uint64_t due)
{
    uint64_t stride = sampler.stride * sampler.interval, at = look_at(due);
    int which = due / stride & 1;
    arm(which, at);
    arm(!which, at + stride);
}

/* A call that comes late since its thread had no processor says nothing about how often calls come. */
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
    doubt = to < MOST_DOUBT ? to : MOST_DOUBT;
    careful = careful ? doubt > 0 : doubt >= DOUBT;
}

static uint64_t away(uint64_t now)
{
    uint64_t share = (now - steady) / AWAY_SHARE;
    return share < least_away ? least_away : share > most_away ? most_away : share;
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
    if (careful && !before) {
        arm_both(due); /* from then on the thread does that itself */
    } else if (!careful && (armed[0] < now + least_near || armed[0] < now + away(now) / 4)) {
        arm(0, now + away(now));
        arm(1, 0);
    }
}

void sampler_thread_alert(void)
{
    sampler_quiet_end();
    if (atomic_load(&timed) && atomic_load(&sampler.state) == SAMPLER_ON)
        arm(0, look_at(atomic_load(&sampler.next_due)));
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

/* Waits for a timer, and says which one fired; -1: none did. False where waiting is not possible. */
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

/* The timer fires once; so the lock has to be waited for, but never behind the end. */
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

/* Judges the thread's wakes by the involuntary switches of the others; while calls sample there is nothing to judge. */
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
    if (wakes > 0 && sampler_pace_judge(&pace, SAMPLER_PACE_WINDOW, interruptions - before)) {
        static bool told;
        sampler.pace = sampler_pace_stride(&pace, sampler.interval_ns);
        sampler_quiet_end();
        if (sampler.pace > 1 && !told)
            agent_tell_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_LESS, "the process computes on all cores: between MPI calls and within long ones the agent looks once in 1 ms at most, to keep its cost low");
        told |= sampler.pace > 1;
    }
    before = interruptions;
    wakes = 1; /* from which the next window is counted */
}

static void *fill_in(void *unused)
{
    (void)unused;
    if (CPU_COUNT(&core) > 0)
        sched_setaffinity(0, sizeof core, &core);
    if (!make_timers()) {
        agent_tell(MPITX_RUN_WARNING, "no timer: " CALLS_ALONE);
        return NULL;
    }
    atomic_store(&timed, true);
    int fired = -1;
    while (wait_for_lock()) { /* somebody samples, opens handles, or ends */
        uint64_t now = clock_ticks();
        if (fired >= 0)
            armed[fired] = 0;
        if (now >= atomic_load(&sampler.next_due)) {
            filling = true;
            sampler.compares = full || pace.crowded;
            pvar.own_only = own_only;
            sampler_due(now);
            pvar.own_only = false;
            sampler.compares = sampler.stride > 1;
            filling = false;
            steady = now;
            set_doubt(MOST_DOUBT);
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
    uint64_t grace_ns = sampler.interval_ns / (sampler.interval_ns < 2 * MOST_GRACE_NS ? 4 : 2);
    if (grace_ns > MOST_GRACE_NS)
        grace_ns = MOST_GRACE_NS;
    grace = clock_from_nanoseconds(grace_ns);
    least_away = clock_from_nanoseconds(AWAY_NS);
    least_near = clock_from_nanoseconds(NEAR_NS);
    most_away = clock_from_nanoseconds(MOST_AWAY_NS);
    often = sampler.interval < least_away;
    steady = clock_ticks();
    sampler.next_align = 0;
    set_doubt(MOST_DOUBT);
    own_only = pvar.mpi_t && pvar.t_level != MPITX_THREAD_MULTIPLE;
    if (own_only && !pvar_has_own()) {
        agent_tell_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_LESS, "MPI_T does not grant MPI_THREAD_MULTIPLE, as the application does not have it: " CALLS_ALONE);
        return;
    }
    full = !sampler_core_free(&core);
    if (full && sampler.interval_ns < SHORTEST_NS) {
        agent_tell_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_LESS, "the interval is below 1 ms and no processor is free: " CALLS_ALONE);
        return;
    }
    full = full && often;
    pthread_t thread;
    int rc = agent_thread(&thread, fill_in, NULL);
    if (rc) {
        agent_tell(MPITX_RUN_WARNING, "no thread (%s): " CALLS_ALONE, strerror(rc));
        return;
    }
    pthread_detach(thread);
    sampler.threaded = true;
}
