/* life.h: the life of the agent.
 *
 *     life.c         start and end
 *     tools.c        the table of tools
 *     record.c       the run that tools write to
 *     environment.c  the environment of the application's children
 *     spawn.c        the agent in processes that MPI_Comm_spawn starts */
#ifndef MPITX_LIFE_H
#define MPITX_LIFE_H

#include "tools/tool.h"

#pragma GCC visibility push(hidden)

/* tools.c: all tools, between two NULLs. */
extern const struct agent_tool *const agent_tools[];

/* environment.c */
#define AGENT_VARIABLE "MPITX_AGENT"
void agent_clean_environment(void); /* removes the agent from the environment of child processes */

/* spawn.c */
char *life_configuration(void); /* the value of MPITX_AGENT, or of the file that it names; NULL: none */
void life_keep_environment(void); /* before it is cleaned */
bool life_spawning(struct call_spawn *spawn);
void life_spawned(struct call_spawn *spawn);

/* record.c */
extern const char *const record_keys[];
bool record_open(void); /* false: there is no run, and notes say why */
void record_close(enum agent_end end);
void record_abandon(void); /* in a forked child */

#pragma GCC visibility pop

#endif
