/* due.c: whether sampling goes on, and when the next sample is due. */
#include "tools/sample/sampler.h"

#define LEAST_REST 4 /* samples take at most one in this many parts of the time */

_Atomic int sampler_state;
struct sampler_schedule sampler_schedule;

uint64_t sampler_first_due(void)
{
    return atomic_load_explicit(&sampler_schedule.next,
                                memory_order_relaxed) - sampler_schedule.postponed * sampler_schedule.interval;
}

uint64_t sampler_postpone(uint64_t next, uint64_t took)
{
    struct sampler_schedule *s = &sampler_schedule;
    uint64_t least = took < s->took ? took : s->took;
    s->took = took;
    if (__builtin_expect(least * LEAST_REST <= s->interval, 1)) return next;
    s->postponed = (least * LEAST_REST + s->interval - 1) / s->interval;
    if (least > s->longest) s->longest = least;
    next += s->postponed * s->interval;
    atomic_store_explicit(&s->next, next, memory_order_relaxed);
    return next;
}

uint64_t sampler_round_up(uint64_t n)
{
    uint64_t power = 1, digits[] = {1, 2, 5, 10};
    int i = 0;
    while (power * 10 <= n) power *= 10;
    while (i < 3 && digits[i] * power < n) i++;
    return digits[i] * power;
}
