/* core.h: a core for the agent's threads. */
#ifndef MPITX_CORE_H
#define MPITX_CORE_H

#include <sched.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Whether a core is free for a helper thread. cores is the set to which it should move; empty: it should stay. */
bool core_free(cpu_set_t *cores);

#pragma GCC visibility pop

#endif
