/* functions.c: records the totals of functions when sampling ends. */
#include "base/clock.h"
#include "tools/sample/sampler.h"
#include "tools/tally/virtual.h"

void sampler_record_functions(void)
{
    static struct mpitx_run_function functions[1024]; /* static, as a dying process must not allocate */
    static bool recorded;
    struct virtual_function f;
    uint64_t now = clock_ticks();
    uint32_t n = 0;
    for (int i = 0; !recorded && i < (int)(sizeof functions / sizeof *functions); i++)
        if (virtual_function(i, now, &f)) functions[n++] = (struct mpitx_run_function){f.name, f.calls, f.time_ns};
    if (n) mpitx_run_functions(agent_run, functions, n);
    recorded = true;
}
