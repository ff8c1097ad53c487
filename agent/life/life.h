/* agent_internal.h: the agent's life, as the wrappers of MPI_Init and its like see it. */
#ifndef MPITX_AGENT_INTERNAL_H
#define MPITX_AGENT_INTERNAL_H

#include "life/agent.h"

#pragma GCC visibility push(hidden)

struct chain_entry;

void agent_before_init_core(void);
/* True when the agent runs. */
bool agent_after_init_core(const struct chain_call *call, int rc, int level, bool sessions);
void agent_before_finalize_core(bool session);
void agent_after_finalize_core(void);
void agent_before_abort(void);

/* agent.c */
#define AGENT_VARIABLE "MPITX_AGENT"
void agent_configure(char *text); /* keeps the text */
void agent_leave_environment(void); /* so that what the process starts is free of the agent */

/* Called by resolve.c: the library that was found is of another family. */
void agent_foreign_family(const char *path);
bool agent_is_armed(void);

/* counts.c: the debug tool */
void counts_start(void);
void counts_write(const char *when);

/* null.c */
void null_start(void);
void null_end(void);

#pragma GCC visibility pop

#endif
