/* pace.c: how often the helper thread may sample.
 *
 * Whether a core is free is not known from the number of processes: a process may compute with many threads. But a wake that takes the
 * core from one of them is an involuntary switch of that thread. It costs up to 40 us in a virtual machine, so that only one each
 * millisecond is taken. */
#include "tools/sample/pace.h"

#define SHORTEST_NS UINT64_C(1000000) /* between wakes that interrupt */
#define CROWDED 4                     /* one wake in so many interrupts: no core is free */
#define CALM 16                       /* at most one in so many does: one may be */
#define CALM_WINDOWS 4                /* for so long: threads that compute wait for each other now and then */

bool sampler_pace_judge(struct sampler_pace *pace, uint64_t wakes, uint64_t interruptions)
{
    bool before = pace->crowded;
    pace->calm = interruptions * CALM <= wakes ? pace->calm + 1 : 0;
    if (interruptions * CROWDED >= wakes)
        pace->crowded = true;
    else if (pace->calm >= CALM_WINDOWS)
        pace->crowded = false;
    return pace->crowded != before;
}

uint32_t sampler_pace_stride(const struct sampler_pace *pace, uint64_t interval_ns)
{
    if (!pace->crowded)
        return 1;
    return (uint32_t)((SHORTEST_NS + interval_ns - 1) / interval_ns);
}
