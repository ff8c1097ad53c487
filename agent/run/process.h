/* process.h: the run of this process, to which every part of the agent writes, and its notes. */
#ifndef MPITX_RUN_PROCESS_H
#define MPITX_RUN_PROCESS_H

#include "run/run.h"

#pragma GCC visibility push(hidden)

extern struct mpitx_run *agent_run; /* NULL: no run */

/* The options of the run to be opened, set by tools while MPI starts. A tool that records sets dir. */
extern struct mpitx_run_options agent_run_options;

/* Set by tools when they end: a part has switched itself off; a thread may still be in calls of the run. */
extern bool agent_run_off, agent_run_busy;

/* Notes for the run, or for the agent if there is no run (yet). agent_report writes a text note. */
void agent_report(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void agent_report_code(int severity, int code, const char *text);
void agent_report_notes(void); /* copies the agent's new notes to the run */

#pragma GCC visibility pop

#endif
