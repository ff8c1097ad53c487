/* take.c: takes one sample, and decides when the next is due.
 *
 * The application's own calls take the samples. Each thread counts calls down and reads the clock about twenty times a period, more often
 * the closer the next sample is, so that a call costs next to nothing. With a short interval, ranks of a node are due at the same times, so
 * that they sample together and none waits for another that samples. */
#define _GNU_SOURCE
#include <errno.h>

#include "base/clock.h"
#include "tools/sample/sampler.h"

#define MAX_COUNTDOWN 256          /* beyond this, clock reads are nearly free, and a thread that slows down notices soon */
#define MAX_LEFT (UINT64_C(1) << 40) /* ticks */
#define PAIR_NS UINT64_C(10000000000) /* between clock pairs */
#define ALIGN_NS UINT64_C(10000000000) /* between corrections, as the interval is rounded to ticks */
#define COST_SAMPLES 16               /* of short samples, one in this many is timed */
#define LEAST_REST 4                  /* samples take at most one in this many parts of the time */

void sampler_write(struct pvar_group *g, uint64_t ticks)
{
    for (struct pvar_row *row = g->rows, *end = row + g->row_count; row < end; row++) {
        if (__builtin_expect(pvar.virtual_only, 0) && row->library)
            sampler.library_skipped++;
        else
            mpitx_run_sample(agent_run, (uint32_t)row->set, ticks, row->row, row->bad ? row->statuses : NULL);
    }
}

static void take_group(struct pvar_group *g, uint64_t now)
{
    pvar_read(g, now);
    sampler_write(g, now);
}

/* Only if the group is declared: many communicators live less than a period and are not recorded. */
void sampler_take_last(struct pvar_group *g)
{
    if (!g->declared || atomic_load(&sampler.state) != SAMPLER_ON)
        return;
    uint64_t now = clock_ticks();
    take_group(g, now);
    mpitx_run_cost(agent_run, 0, clock_nanoseconds(clock_ticks() - now));
}

void sampler_take(uint64_t now)
{
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        if (__builtin_expect(g->declared, 1) || pvar_group_declare(g))
            take_group(g, now);
    sampler_taken(now);
}

bool sampler_take_now(bool library)
{
    if (atomic_load_explicit(&sampler.state, memory_order_relaxed) != SAMPLER_ON)
        return false;
    uint64_t now = clock_ticks();
    pvar.virtual_only = !library;
    sampler_take(now);
    pvar.virtual_only = false;
    mpitx_run_cost(agent_run, 1, clock_nanoseconds(clock_ticks() - now));
    return true;
}

void sampler_taken(uint64_t ticks)
{
    sampler.samples++;
    if (__builtin_expect(chain_losses().frames != 0, 0))
        sampler_report_depth();
    if (__builtin_expect(ticks >= sampler.next_pair, 0)) {
        mpitx_run_clock_pair(agent_run);
        sampler.next_pair = ticks + clock_from_nanoseconds(PAIR_NS);
    }
}

uint64_t sampler_first_due(void)
{
    return atomic_load_explicit(&sampler.next_due, memory_order_relaxed) - sampler.postponed * sampler.interval;
}

bool sampler_over(uint64_t now, uint64_t due)
{
    if (!sampler.end_ticks || now < sampler.end_ticks)
        return false;
    uint64_t before = sampler.end_ticks > due ? sampler.end_ticks - due : 0;
    uint64_t passed = (before + sampler.interval - 1) / sampler.interval;
    uint64_t filled = sampler.compares && !sampler.postponed ? sampler_quiet_fill(sampler.end_ticks, due, passed) : 0;
    mpitx_run_cost(agent_run, filled, 0);
    mpitx_run_missed(agent_run, passed - filled);
    return true;
}

static void stop(void)
{
    atomic_store(&sampler.state, SAMPLER_DONE);
    atomic_store(&sampler.next_due, UINT64_MAX);
    chain_countdown(NULL);
    sampler_attend_end();
    sampler_thread_stop();
    sampler_record_functions();
}

/* Postpones the next sample after two long ones, so that sampling takes a bounded share of the time. One alone may have been interrupted. */
static uint64_t postpone(uint64_t next, uint64_t took)
{
    uint64_t least = took < sampler.took ? took : sampler.took;
    sampler.took = took;
    if (__builtin_expect(least * LEAST_REST <= sampler.interval, 1))
        return next;
    sampler.postponed = (least * LEAST_REST + sampler.interval - 1) / sampler.interval;
    if (least > sampler.longest)
        sampler.longest = least;
    next += sampler.postponed * sampler.interval;
    atomic_store_explicit(&sampler.next_due, next, memory_order_relaxed);
    return next;
}

void sampler_due(uint64_t now)
{
    uint64_t due = atomic_load_explicit(&sampler.next_due, memory_order_relaxed);
    if (now < due || atomic_load_explicit(&sampler.state, memory_order_relaxed) != SAMPLER_ON)
        return;
    if (sampler_over(now, sampler_first_due())) {
        stop();
        return;
    }
    uint64_t passed = 0, filled = 0, postponed = sampler.postponed;
    bool late = now - due > sampler_thread_grace();
    if (__builtin_expect(now - due >= sampler.interval, 0))
        passed = (now - due) / sampler.interval;
    uint64_t next = due + (passed + 1) * sampler.interval;
    if (__builtin_expect(now >= sampler.next_align, 0)) {
        next = sampler_thread_align(next);
        sampler.next_align = now + clock_from_nanoseconds(ALIGN_NS);
    }
    atomic_store_explicit(&sampler.next_due, next, memory_order_relaxed);
    if (__builtin_expect(sampler.compares, 0))
        filled = sampler_quiet_take(now, due, passed);
    else
        sampler_take(now);
    if (__builtin_expect(passed + postponed > filled, 0))
        mpitx_run_missed(agent_run, passed + postponed - filled);
    if (sampler.attends)
        late = passed > filled;
    sampler.postponed = 0;
    bool counts = sampler.samples % COST_SAMPLES == COST_SAMPLES / 2;
    bool timed = counts || sampler.samples < COST_SAMPLES || sampler.took * COST_SAMPLES > sampler.interval;
    uint64_t took = timed ? clock_ticks() - now : 0;
    if (timed)
        next = postpone(next, took);
    if (sampler.limit && sampler.samples >= sampler.limit)
        stop();
    else
        sampler_thread_arm(now, next, late);
    mpitx_run_cost(agent_run, 1 + filled, counts ? COST_SAMPLES * clock_nanoseconds(took) : 0);
}

/* ---- the countdown ---- */

/* A thread's pace: the number of calls between two clock reads. */
static AGENT_THREAD struct {
    uint64_t last;
    int32_t calls;
} pace;

void sampler_call(struct chain_thread *thread)
{
    uint64_t now = clock_ticks();
    if (sampler.attends) {
        int saved = errno;
        sampler_attend_call(thread->depth > 0, now);
        errno = saved;
        pace.last = now;
        pace.calls = thread->countdown = 1;
        return;
    }
    bool alerted = chain_is_alerted();
    if ((alerted || now >= atomic_load_explicit(&sampler.next_due, memory_order_relaxed)) && sampler_try_lock()) {
        int saved = errno;
        sampler_due(now);
        if (alerted)
            sampler_thread_alert();
        errno = saved;
        sampler_unlock();
    }
    /* Half of the calls expected until the next sample, so that the last clock read is close to it. */
    uint64_t since = now - pace.last + 1, due = atomic_load_explicit(&sampler.next_due, memory_order_relaxed);
    uint64_t left = due <= now ? 0 : due - now < MAX_LEFT ? due - now : MAX_LEFT;
    int32_t calls = pace.calls, max = calls < MAX_COUNTDOWN / 2 ? 2 * calls + 1 : MAX_COUNTDOWN;
    uint64_t expected = left * (uint32_t)calls / (2 * since);
    pace.last = now;
    pace.calls = expected < 1 ? 1 : expected > (uint32_t)max ? max : (int32_t)expected;
    thread->countdown = pace.calls - 1;
}
