/* window.h: the part of a run in which traces are recorded: after a time, for a time, in phases of the program. */
#ifndef MPITX_TOOLS_WINDOW_H
#define MPITX_TOOLS_WINDOW_H

#include "tools/tool.h"

#pragma GCC visibility push(hidden)

extern uint64_t window_from, window_to; /* ticks of the run's clock */
extern int window_phases; /* how many threads are in a phase that was asked for; negative: any phase will do */

static inline bool window_open(uint64_t now)
{
    return now >= __atomic_load_n(&window_from, __ATOMIC_RELAXED) &&
           now < __atomic_load_n(&window_to, __ATOMIC_RELAXED) &&
           __atomic_load_n(&window_phases, __ATOMIC_RELAXED) != 0;
}

#pragma GCC visibility pop

#endif
