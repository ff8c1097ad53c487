/* sampler_thread.c: the thread that samples when no call has done so.
 *
 * It sleeps until a timer fires that samples taken in calls move on, so that it never wakes while calls sample: a wake-up takes
 * 40 us from a busy core. Moving the timer takes 1 us, but 20 (in virtual machines) where it becomes the next one to fire on this
 * core, or was, and the hardware has to be set. So where calls have been on time for a while, it is kept some milliseconds away,
 * beyond the system's next tick, and what is then missed while the thread has not noticed yet is counted.
 *
 * The timer's signal is one that the C library keeps for itself, sent to this thread alone, blocked there and fetched: no
 * handler, mask or descriptor of the application is touched.
 *
 * The thread samples only where MPI_T was granted MPI_THREAD_MULTIPLE, and not below 1 ms unless a processor is free. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "sampler.h"

#define SHORTEST_NS UINT64_C(1000000)
#define MOST_GRACE_NS UINT64_C(5000000)
#define AWAY_NS UINT64_C(8000000)
#define NEAR_NS UINT64_C(5000000) /* beyond the next tick of a kernel with 250 a second */
#define CAREFUL 32
#define SIGNAL 32          /* glibc's first internal one, as its own timer threads use it */
#define SIGNAL_MASK (UINT64_C(1) << (SIGNAL - 1))

static int timer; /* the kernel's */
static _Atomic bool timed;
static uint64_t grace; /* ticks that calls have to take a sample that is due */
static uint64_t away, near; /* where the timer is kept while calls are on time: when it is nearer than near, away is set */
static uint64_t armed; /* the time it is set to; under the lock, like what follows */
static int careful;    /* samples until calls are trusted to be on time */
static bool filling;   /* it is the thread that samples */

static void arm_at(uint64_t ticks)
{
    armed = ticks;
    uint64_t at = clock_point(ticks);
    struct itimerspec when = {.it_value = {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &when, NULL);
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

void sampler_thread_arm(uint64_t now, uint64_t due, bool late)
{
    if (!atomic_load_explicit(&timed, memory_order_relaxed) || filling)
        return;
    uint64_t at = due + grace;
    if (late && sampler.interval_ns >= SHORTEST_NS && !preempted())
        careful = CAREFUL;
    else if (careful > 0)
        careful--;
    if (careful == 0 && at < now + away) {
        if (armed >= now + near)
            return;
        at = now + away;
    }
    arm_at(at);
}

uint64_t sampler_thread_grace(void) { return grace; }

void sampler_thread_stop(void)
{
    if (!atomic_load(&timed))
        return;
    struct itimerspec soon = {.it_value = {0, 1}};
    syscall(SYS_timer_settime, timer, 0, &soon, NULL);
}

static bool make_timer(void)
{
    struct sigevent event;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGNAL;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    uint64_t mask = SIGNAL_MASK;
    return syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof mask) == 0 &&
           syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) == 0;
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

/* The agent gave up, and no hook will be called again: the run ends here. */
static void end_run(void)
{
    if (!sampler_try_lock())
        return;
    if (atomic_exchange(&sampler.state, SAMPLER_OFF) != SAMPLER_ENDED) {
        sampler_note_code(MPITX_RUN_SEVERE, MPITX_RUN_NOTE_SWITCHED_OFF, "the agent gave up");
        sampler_tell_notes();
        mpitx_run_close(&sampler.run, MPITX_RUN_END_OFF);
    }
    sampler_unlock();
}

static void *fill_in(void *unused)
{
    (void)unused;
    uint64_t mask = SIGNAL_MASK;
    if (!make_timer()) {
        sampler_note(MPITX_RUN_WARNING, "no timer: nothing is sampled while no MPI function is called");
        return NULL;
    }
    atomic_store(&timed, true);
    arm_at(atomic_load(&sampler.next_due) + grace);
    while (!over()) {
        if (syscall(SYS_rt_sigtimedwait, &mask, NULL, NULL, sizeof mask) < 0 && errno != EINTR && errno != EAGAIN)
            break;
        if (over())
            break;
        if (!wait_for_lock()) /* somebody samples, opens handles, or ends */
            continue;
        uint64_t now = clock_ticks(), due = atomic_load(&sampler.next_due);
        if (now >= due) {
            filling = true;
            sampler_due(now);
            filling = false;
            careful = CAREFUL;
        }
        due = atomic_load(&sampler.next_due);
        if (!over())
            arm_at(due + grace);
        sampler_unlock();
    }
    if (agent_process.state == AGENT_DORMANT)
        end_run();
    return NULL;
}

/* The launchers' count of processes on this node. */
static long local_processes(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && atol(text) > 0)
            return atol(text);
    }
    return agent_process.size > 0 ? agent_process.size : 1;
}

static bool processor_free(void)
{
    cpu_set_t own;
    bool several = sched_getaffinity(0, sizeof own, &own) != 0 || CPU_COUNT(&own) > 1;
    return several && sysconf(_SC_NPROCESSORS_ONLN) > local_processes();
}

void sampler_thread_start(void)
{
    uint64_t grace_ns = sampler.interval_ns / (sampler.interval_ns < 2 * MOST_GRACE_NS ? 4 : 2);
    if (grace_ns > MOST_GRACE_NS)
        grace_ns = MOST_GRACE_NS;
    grace = clock_from_nanoseconds(grace_ns);
    away = clock_from_nanoseconds(AWAY_NS);
    near = clock_from_nanoseconds(NEAR_NS);
    careful = CAREFUL;
    if (sampler.mpi_t && sampler.library_count > 0 && sampler.t_level != MPITX_THREAD_MULTIPLE) {
        sampler_note(MPITX_RUN_INFO, "MPI_T does not grant MPI_THREAD_MULTIPLE: nothing is sampled while no MPI function is called");
        return;
    }
    if (sampler.interval_ns < SHORTEST_NS && !processor_free()) {
        sampler_note(MPITX_RUN_INFO, "the interval is below 1 ms and no processor is free: nothing is sampled while no MPI function is called");
        return;
    }
    pthread_t thread;
    int rc = agent_thread(&thread, fill_in, NULL);
    if (rc) {
        sampler_note(MPITX_RUN_WARNING, "no thread (%s): nothing is sampled while no MPI function is called", strerror(rc));
        return;
    }
    pthread_detach(thread);
    sampler.threaded = true;
}
