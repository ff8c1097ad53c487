/* hooks.c: what the recording parts are told, when they are not there. */
#include "life/agent.h"

#define WEAK __attribute__((weak))

WEAK const char *const agent_sampler_keys[] = {0};
WEAK void agent_loaded(void) {}
WEAK void agent_entering(void) {}
WEAK void agent_unrecorded(const char *why) { (void)why; }
WEAK void agent_started(void) {}
WEAK void agent_ending(enum agent_end end) { (void)end; }
WEAK void agent_world_ending(void) {}
WEAK void agent_due(struct chain_thread *thread) { (void)thread; }
WEAK void agent_comm_created(union mpi_handle comm, const char *how) { (void)comm; (void)how; }
WEAK void agent_comm_named(union mpi_handle comm, const char *name) { (void)comm; (void)name; }
WEAK void agent_comm_freeing(union mpi_handle comm) { (void)comm; }
WEAK void agent_win_created(union mpi_handle win, const char *how) { (void)win; (void)how; }
WEAK void agent_win_named(union mpi_handle win, const char *name) { (void)win; (void)name; }
WEAK void agent_win_freeing(union mpi_handle win) { (void)win; }
WEAK void agent_pcontrol(int level) { (void)level; }
WEAK void agent_forked(void) {}
