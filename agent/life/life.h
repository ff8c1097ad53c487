/* life.h: what the parts of the agent's life share.
 *
 *     life.c         start and end
 *     tools.c        the table of tools
 *     record.c       the run that tools write to
 *     environment.c  the environment that the application's children get */
#ifndef MPITX_LIFE_H
#define MPITX_LIFE_H

#include "tools/tool.h"

#pragma GCC visibility push(hidden)

/* tools.c: every tool, between NULLs. */
extern const struct agent_tool *const agent_tools[];

/* environment.c */
#define AGENT_VARIABLE "MPITX_AGENT"
void agent_leave_environment(void); /* so that what the process starts is free of the agent */

/* record.c */
extern const char *const record_keys[];
bool record_open(void); /* whether there is a run; notes say why not */
void record_close(enum agent_end end);
void record_abandon(void); /* in a forked child */

#pragma GCC visibility pop

#endif
