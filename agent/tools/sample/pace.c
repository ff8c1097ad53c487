/* pace.c: decides how often the helper thread may sample.
 *
 * The number of processes does not show whether a core is free, as a process may compute with many threads. But a
 * wake-up that takes the core from such a thread is an involuntary context switch of that thread. It costs up to 40 us
 * in a virtual machine, so at most one each millisecond is allowed. */
#include "tools/sample/pace.h"

#define SHORTEST_NS UINT64_C(1000000) /* between wake-ups that interrupt */
#define CROWDED 4                     /* one wake-up in this many interrupts: no core is free */
#define CALM 16                       /* at most one in this many interrupts: a core may be free */
#define CALM_WINDOWS 4                /* for this many windows, as computing threads wait for each other now and then */

bool sampler_pace_update(struct sampler_pace *pace, uint64_t wakes, uint64_t interruptions)
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
    if (!pace->crowded) return 1;
    return (uint32_t)((SHORTEST_NS + interval_ns - 1) / interval_ns);
}
