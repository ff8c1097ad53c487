/* lock.c: the sampler's lock, and switching the sampler off. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "tools/sample/sampler.h"

#define LOCK_NS UINT64_C(10000000000) /* trying variables of windows may take seconds on a busy machine */

/* A try lock, as it is hardly ever contended and a mutex takes three times as long. locked says that this thread holds
 * it, to detect a sample that was left by longjmp. */
static atomic_bool taken;
static AGENT_THREAD bool locked;
static struct cancel cancelable; /* the holder's cancellation state before it took the lock */

bool sampler_try_lock(void)
{
    if (locked || atomic_load_explicit(&taken, memory_order_relaxed)) return false;
    struct cancel before = cancel_defer();
    locked = true; /* whenever this thread has taken it, also if a signal handler leaves by siglongjmp now */
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        locked = false;
        cancel_restore(before);
        return false;
    }
    cancelable = before;
    return true;
}

void sampler_unlock(void)
{
    struct cancel before = cancelable;
    atomic_store_explicit(&taken, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    locked = false;
    cancel_restore(before);
}

bool sampler_wait_for_lock(uint64_t max_ns)
{
    const struct timespec pause = {0, 50000};
    for (uint64_t start = clock_monotonic(); !locked && clock_monotonic() - start < max_ns;) {
        if (sampler_try_lock()) return true;
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's nanosleep is a cancellation point */
    }
    return false;
}

void sampler_follow_objects(bool on)
{
    static atomic_bool following;
    if (atomic_exchange(&following, on) != on) chain_follow_objects(on);
}

/* Switches the sampler off permanently, with a note; the application continues. */
static void switch_off(const char *why)
{
    int on = SAMPLER_ON, done = SAMPLER_DONE;
    if (!atomic_compare_exchange_strong(&sampler_state, &on, SAMPLER_OFF))
        atomic_compare_exchange_strong(&sampler_state, &done, SAMPLER_OFF);
    atomic_store(&sampler_schedule.next, UINT64_MAX);
    chain_countdown(NULL);
    sampler_follow_objects(false);
    chain_follow_others(0, NULL);
    agent_report_code(MPITX_RUN_SEVERE, MPITX_RUN_NOTE_SWITCHED_OFF, why);
}

bool sampler_holds_lock(void) { return locked; }

bool sampler_lock(void)
{
    if (sampler_wait_for_lock(LOCK_NS)) return true;
    switch_off(locked ? "a sample was left by longjmp or an exception" : "a sample did not end");
    if (locked) cancel_restore(cancelable);
    return false;
}
