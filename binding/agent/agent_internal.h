/* agent_internal.h: the agent's life, as the wrappers of MPI_Init and its like see it. */
#ifndef MPITX_AGENT_INTERNAL_H
#define MPITX_AGENT_INTERNAL_H

#include "agent.h"

#pragma GCC visibility push(hidden)

struct chain_entry;

void agent_before_init_core(void);
/* True when this call has started the agent: it then counts from its start. */
bool agent_after_init_core(int rc, int level, bool sessions);
void agent_before_finalize_core(bool session);
void agent_after_finalize_core(int rc, bool session);
void agent_before_abort(void);

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
