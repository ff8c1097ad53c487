/* instant.c: takes a sample if one is due, and says when the next one is.
 *
 * With a short interval, ranks of a node are due at the same times, so that none waits for another that samples. */
#include "base/clock.h"
#include "tools/sample/sampler.h"

#define ALIGN_NS UINT64_C(10000000000) /* between corrections, as the interval is rounded to ticks */
#define COST_SAMPLES 16               /* of short samples, one in this many is timed */

bool sampler_over(uint64_t now, uint64_t due)
{
    if (!sampler_schedule.end || now < sampler_schedule.end) return false;
    uint64_t before = sampler_schedule.end > due ? sampler_schedule.end - due : 0;
    uint64_t passed = (before + sampler_schedule.interval - 1) / sampler_schedule.interval;
    uint64_t filled = sampler_backoff.compares && !sampler_schedule.postponed
                      ? sampler_quiet_fill(sampler_schedule.end, due, passed) : 0;
    mpitx_run_cost(agent_run, filled, 0);
    mpitx_run_missed(agent_run, passed - filled);
    return true;
}

static void stop(void)
{
    atomic_store(&sampler_state, SAMPLER_DONE);
    atomic_store(&sampler_schedule.next, UINT64_MAX);
    chain_countdown(NULL);
    sampler_attend_end();
    sampler_wake_thread();
    sampler_record_functions();
}

void sampler_instant(uint64_t now, bool by_thread)
{
    uint64_t due = atomic_load_explicit(&sampler_schedule.next, memory_order_relaxed);
    if (now < due || atomic_load_explicit(&sampler_state, memory_order_relaxed) != SAMPLER_ON) return;
    if (sampler_over(now, sampler_first_due())) {
        stop();
        return;
    }
    uint64_t passed = 0, filled = 0, postponed = sampler_schedule.postponed;
    bool late = now - due > sampler_timer_grace();
    if (__builtin_expect(now - due >= sampler_schedule.interval, 0)) passed = (now - due) / sampler_schedule.interval;
    uint64_t next = due + (passed + 1) * sampler_schedule.interval;
    if (__builtin_expect(now >= sampler_schedule.next_align, 0)) {
        next = sampler_timer_align(next);
        sampler_schedule.next_align = now + clock_from_nanoseconds(ALIGN_NS);
    }
    atomic_store_explicit(&sampler_schedule.next, next, memory_order_relaxed);
    if (__builtin_expect(sampler_backoff.compares, 0))
        filled = sampler_quiet_take(now, due, passed);
    else
        sampler_take(now);
    if (__builtin_expect(passed + postponed > filled, 0)) mpitx_run_missed(agent_run, passed + postponed - filled);
    if (sampler_backoff.attends) late = passed > filled;
    sampler_schedule.postponed = 0;
    bool counts = sampler_counts.samples % COST_SAMPLES == COST_SAMPLES / 2;
    bool timed = counts || sampler_counts.samples < COST_SAMPLES ||
                 sampler_schedule.took * COST_SAMPLES > sampler_schedule.interval;
    uint64_t took = timed ? clock_ticks() - now : 0;
    if (timed) next = sampler_postpone(next, took);
    if (sampler_counts.limit && sampler_counts.samples >= sampler_counts.limit)
        stop();
    else if (!by_thread)
        sampler_timer_arm(now, next, late);
    mpitx_run_cost(agent_run, 1 + filled, counts ? COST_SAMPLES * clock_nanoseconds(took) : 0);
}
