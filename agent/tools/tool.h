/* tool.h: what a tool of the agent is: an entry in one table (life/tools.c).
 *
 * A tool has configuration keys, calls that follow the agent's life, and what it observes of MPI calls (chain_observe). Calls that are
 * NULL are left out. None may print, block or end the process. null.c is a tool that does nothing, to be copied. */
#ifndef MPITX_TOOL_H
#define MPITX_TOOL_H

#include "base/agent.h"
#include "chain/chain.h"

enum agent_end { AGENT_FINALIZE = 1, AGENT_EXIT = 2, AGENT_ABORT = 3 }; /* numbered like enum mpitx_run_end */

struct agent_tool {
    const char *name;
    const char *const *keys; /* ended by NULL */

    /* The process has the agent; before its main. */
    void (*loaded)(void);

    /* MPI_Init was called. */
    void (*entering)(void);

    /* A process that has called MPI_Init, or is about to, will not be recorded. */
    void (*unrecorded)(const char *why);

    /* MPI is initialised, and no run is open: what the run's header says of this tool is found out. */
    void (*preparing)(void);

    /* MPI is initialised; the run is open if there is to be one; other threads may already call MPI. On the initialising thread. */
    void (*started)(void);

    /* While chain_follow_objects is on. */
    void (*object)(const struct chain_object *object);

    /* MPI_Pcontrol(level, …), counted calls only. */
    void (*pcontrol)(int level);

    /* MPI_Finalize was called and has not gone on yet, but sessions remain. */
    void (*world_ending)(void);

    /* The last MPI_Finalize or MPI_Session_finalize was called and has not gone on yet; or MPI_Abort; or the process exits without
     * either. MPI may be called only in the first case: a thread that crashed may hold the library's locks. At most once. */
    void (*ending)(enum agent_end end);

    /* After the last call that is to be counted; how: "finalize", "abort", "exit"; "unreached" where MPI_Init was never called. */
    void (*ended)(const char *how);

    /* In a child that is a copy of the process, after the chain was stopped: close nothing, unmap, forget threads. */
    void (*forked)(void);
};

#endif
