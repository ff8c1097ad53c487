/* tool.h: a tool of the agent: an entry in one table (life/tools.c).
 *
 * A tool has configuration keys and callbacks for the stages of the agent's life, and may observe MPI calls (chain_observe). Callbacks
 * may be NULL. None may print, block or end the process. null.c is the template. */
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

    /* MPI is initialised, and no run is open. A tool that records sets fields of agent_run_options, dir at least. */
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
     * either. MPI may be called only in the first case: a thread that crashed may hold the library's locks. At most once. The run is still
     * open: the last chance to write into it, and for notes that belong into it. */
    void (*ending)(enum agent_end end);

    /* After the last call that is to be counted, with the run closed; how: "finalize", "abort", "exit"; "unreached" if MPI_Init was
     * never called. */
    void (*ended)(const char *how);

    /* In a child that is a copy of the process, after the chain was stopped: close nothing, unmap, forget threads. */
    void (*forked)(void);
};

#endif
