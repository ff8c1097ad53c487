/* timer.c: when the thread that samples wakes.
 *
 * A timer wakes it some time after a sample was due. Setting a timer takes 1 us, but 10 to 20 us in a virtual machine
 * if it is, or was, the next one to fire on this core, because the hardware has to be set. Therefore:
 *
 *   - While calls sample on time, one timer is kept some milliseconds ahead, after the system's next tick. Instants
 *     missed before the thread notices that calls have stopped are counted.
 *   - While the thread samples, two timers alternate, so that the one being set is never the next to fire. They fire at
 *     multiples of the interval, some of which are system ticks.
 *   - If the interval is long, each sample moves one timer.
 *
 * The timers use a signal that is sent to this thread only, blocked there and fetched, so that no handler, mask or
 * descriptor of the application changes. It is none of those that the C library reserves for itself: code that blocks
 * all signals for a moment on this thread and restores the mask would unblock them, as pthread_sigmask leaves them out,
 * and they would end the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/sample/sampler.h"

#define MAX_GRACE_NS UINT64_C(5000000)
#define AWAY_NS UINT64_C(8000000)
#define NEAR_NS UINT64_C(5000000) /* after the next tick of a kernel with 250 Hz */
#define MAX_AWAY_NS UINT64_C(32000000)
#define AWAY_SHARE 32 /* fraction of the time for which calls have been on time */
#define LATE 8      /* added to doubt by a late call; a call on time subtracts 1 */
#define DOUBT 16    /* from this doubt on, the thread checks each sample until doubt is 0 */
#define MAX_DOUBT 32
#define RELY_AFTER 256 /* samples of the thread, after which calls may attend again */
#define SIGNAL 62
#define SIGNAL_MASK (UINT64_C(1) << (SIGNAL - 1))

bool sampler_often, sampler_full;
static int timers[2]; /* kernel timer IDs */
static _Atomic bool timed;
static uint64_t grace; /* ticks that calls have for taking a due sample */
static uint64_t min_away, max_away; /* how far ahead the timer is kept while calls are on time */
static uint64_t min_near; /* it is set again if it is nearer than this, or than a quarter of that */
static uint64_t armed[2]; /* the times they are set to; 0: not set. This and the following: under the lock */
static uint64_t steady; /* start of the time for which calls have been on time */
static int doubt;
static bool careful;   /* the thread checks each sample */

/* Converts ticks near now to CLOCK_MONOTONIC's nanoseconds, relative to now, as the clocks drift apart. */
static uint64_t point(uint64_t ticks)
{
    uint64_t now = clock_ticks(), monotonic = clock_kernel();
    return ticks >= now ? monotonic + clock_nanoseconds(ticks - now) : monotonic - clock_nanoseconds(now - ticks);
}

static void arm(int which, uint64_t ticks)
{
    if (armed[which] == ticks) return;
    armed[which] = ticks;
    uint64_t at = ticks ? point(ticks) : 0;
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    syscall(SYS_timer_settime, timers[which], TIMER_ABSTIME, &when, NULL);
}

/* When the thread checks for a due sample: during back-off, for the last one of the stride. */
static uint64_t check_time(uint64_t due)
{
    return due + (sampler_backoff.stride - 1) * sampler_schedule.interval + grace;
}

/* Sets both timers, for the due sample and the one after it. */
static void arm_both(uint64_t due)
{
    uint64_t stride = sampler_backoff.stride * sampler_schedule.interval, at = check_time(due);
    int which = due / stride & 1;
    arm(which, at);
    arm(!which, at + stride);
}

/* Whether this thread lost its processor: then a late call does not mean that calls are rare. */
static bool preempted(void)
{
    static _Thread_local long switches;
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
    bool more = usage.ru_nivcsw != switches;
    switches = usage.ru_nivcsw;
    return more;
}

static void set_doubt(int to)
{
    doubt = to < MAX_DOUBT ? to : MAX_DOUBT;
    careful = careful ? doubt > 0 : doubt >= DOUBT;
}

void sampler_rely_on_calls(void) { if (sampler_attend_start()) doubt = careful = 0; }

static uint64_t away(uint64_t now)
{
    uint64_t share = (now - steady) / AWAY_SHARE;
    return share < min_away ? min_away : share > max_away ? max_away : share;
}

void sampler_timer_arm(uint64_t now, uint64_t due, bool late)
{
    if (!atomic_load_explicit(&timed, memory_order_relaxed)) return;
    if (!sampler_often) {
        arm(0, due + grace);
        return;
    }
    bool before = careful;
    if (late && sampler_schedule.interval_ns >= SAMPLER_SHORTEST_NS && !preempted())
        set_doubt(doubt + LATE);
    else if (doubt > 0)
        set_doubt(doubt - 1);
    if (careful && !before && sampler_full && !sampler_backoff.attends) sampler_rely_on_calls();
    if (careful && !before) {
        sampler_attend_end();
        arm_both(due); /* from now on the thread sets them itself */
    } else if (!careful && (armed[0] < now + min_near || armed[0] < now + away(now) / 4)) {
        arm(0, now + away(now));
        arm(1, 0);
    }
}

void sampler_timer_alert(void)
{
    sampler_quiet_end();
    if (atomic_load(&timed) && atomic_load(&sampler_state) == SAMPLER_ON)
        arm(0, check_time(atomic_load(&sampler_schedule.next)));
}

uint64_t sampler_timer_align(uint64_t due)
{
    if (!sampler_often) return due;
    uint64_t rest = point(due + grace) % sampler_schedule.interval_ns;
    if (rest > sampler_schedule.interval_ns / 2)
        return due + clock_from_nanoseconds(sampler_schedule.interval_ns - rest);
    return due - clock_from_nanoseconds(rest);
}

uint64_t sampler_timer_grace(void) { return grace; }

void sampler_wake_thread(void)
{
    if (!atomic_load(&timed)) return;
    struct itimerspec soon = {.it_value = {0, 1}};
    syscall(SYS_timer_settime, timers[0], 0, &soon, NULL);
}

bool sampler_timer_make(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGNAL;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    uint64_t mask = SIGNAL_MASK;
    timed = syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask) == 0 &&
            syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timers[0]) == 0 && (event.sigev_value.sival_int = 1) &&
            syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timers[1]) == 0;
    return timed;
}

bool sampler_timer_wait(int *fired)
{
    uint64_t mask = SIGNAL_MASK;
    siginfo_t info;
    long rc = syscall(SYS_rt_sigtimedwait, &mask, &info, NULL, sizeof mask);
    *fired = rc == SIGNAL ? info.si_value.sival_int & 1 : -1;
    return rc == SIGNAL || errno == EINTR || errno == EAGAIN;
}

void sampler_timer_again(int fired, uint64_t now, uint64_t due)
{
    if (fired >= 0) armed[fired] = 0;
    if (sampler_often && careful)
        arm_both(due);
    else
        arm(0, sampler_often && due + grace < now + away(now) ? now + away(now) : due + grace);
}

void sampler_timer_sampled(uint64_t now, bool outside)
{
    static unsigned samples;
    steady = now;
    if (outside) return;
    sampler_attend_end();
    set_doubt(MAX_DOUBT);
    if (sampler_full && ++samples % RELY_AFTER == 0) sampler_rely_on_calls();
}

void sampler_timer_start(void)
{
    uint64_t interval_ns = sampler_schedule.interval_ns,
                           grace_ns = interval_ns / (interval_ns < 2 * MAX_GRACE_NS ? 4 : 2);
    grace = clock_from_nanoseconds(grace_ns < MAX_GRACE_NS ? grace_ns : MAX_GRACE_NS);
    min_away = clock_from_nanoseconds(AWAY_NS);
    min_near = clock_from_nanoseconds(NEAR_NS);
    max_away = clock_from_nanoseconds(MAX_AWAY_NS);
    sampler_often = sampler_schedule.interval < min_away;
    steady = clock_ticks();
    sampler_schedule.next_align = 0;
    set_doubt(MAX_DOUBT);
}
