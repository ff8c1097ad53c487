/* process.h: the run of this process, that every part of the agent writes to, and what it is told in words. */
#ifndef MPITX_RUN_PROCESS_H
#define MPITX_RUN_PROCESS_H

#include "run/run.h"

#pragma GCC visibility push(hidden)

extern struct mpitx_run *agent_run; /* NULL: none */

/* While MPI starts, what tools know of the run that is to be opened. One that records sets dir. */
extern struct mpitx_run_options agent_run_options;

/* What its end has to know: a part has given up; a thread may still be in calls of the run. Set by tools that end. */
extern bool agent_run_off, agent_run_busy;

/* Notes for the run; they become the agent's where there is none (yet). agent_tell is a text one. */
void agent_tell(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void agent_tell_code(int severity, int code, const char *text);
void agent_tell_notes(void); /* the agent's own that have come since the last time */

#pragma GCC visibility pop

#endif
