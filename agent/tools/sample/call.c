/* call.c: samples that the application's own calls take.
 *
 * Each thread counts calls down and reads the clock about twenty times a period, more often the closer the next sample
 * is, so that a call costs next to nothing. */
#include <errno.h>

#include "base/clock.h"
#include "mpi/requests.h"
#include "tools/sample/sampler.h"

#define MAX_COUNTDOWN 256 /* beyond this, clock reads are nearly free, and a thread that slows down notices soon */
#define MAX_LEFT (UINT64_C(1) << 40) /* ticks */

/* At the start and end of a call that attends. */
static void attend(bool begins, uint64_t now)
{
    if (begins) atomic_fetch_add(&sampler_backoff.starts, 1);
    if ((now >= atomic_load_explicit(&sampler_schedule.next, memory_order_relaxed) ||
         sampler_backoff.checks_left <= 0) && sampler_try_lock()) {
        if (sampler_backoff.checks_left <= 0 || requests_shared) sampler_attend_end();
        if (begins) sampler_attend_outside();
        uint64_t before = sampler_counts.samples;
        sampler_instant(now, false);
        sampler_backoff.outside = false;
        if (sampler_counts.samples > before) sampler_attend_sampled();
        sampler_unlock();
    }
    atomic_store(&sampler_backoff.inside, begins);
    sampler_backoff.checks_left--;
}

/* A thread's pace: the number of calls between two clock reads. */
static AGENT_THREAD struct {
    uint64_t last;
    int32_t calls;
} pace;

void sampler_call(struct chain_thread *thread)
{
    uint64_t now = clock_ticks();
    if (sampler_backoff.attends) {
        int saved = errno;
        attend(thread->depth > 0, now);
        errno = saved;
        pace.last = now;
        pace.calls = thread->countdown = 1;
        return;
    }
    bool alerted = chain_is_alerted();
    if ((alerted || now >= atomic_load_explicit(&sampler_schedule.next, memory_order_relaxed)) && sampler_try_lock()) {
        int saved = errno;
        sampler_instant(now, false);
        if (alerted) sampler_timer_alert();
        errno = saved;
        sampler_unlock();
    }
    /* Half of the calls expected until the next sample, so that the last clock read is close to it. */
    uint64_t since = now - pace.last + 1, due = atomic_load_explicit(&sampler_schedule.next, memory_order_relaxed);
    uint64_t left = due <= now ? 0 : due - now < MAX_LEFT ? due - now : MAX_LEFT;
    int32_t calls = pace.calls, max = calls < MAX_COUNTDOWN / 2 ? 2 * calls + 1 : MAX_COUNTDOWN;
    uint64_t expected = left * (uint32_t)calls / (2 * since);
    pace.last = now;
    pace.calls = expected < 1 ? 1 : expected > (uint32_t)max ? max : (int32_t)expected;
    thread->countdown = pace.calls - 1;
}
