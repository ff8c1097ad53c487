/* tool.h: a tool of the agent is an entry in the table of life/tools.c.
 *
 * A tool has configuration keys and callbacks for the stages of the agent's life, and may observe MPI calls
 * (chain_observe). Callbacks may be NULL. None may print, block or end the process. null.c is the template. */
#ifndef MPITX_TOOL_H
#define MPITX_TOOL_H

#include "base/agent.h"
#include "chain/chain.h"

enum agent_end { AGENT_FINALIZE = 1, AGENT_EXIT = 2, AGENT_ABORT = 3 }; /* numbered like enum mpitx_run_end */

struct agent_tool {
    const char *name;
    const char *const *keys; /* NULL-terminated */

    /* The agent was loaded; before main. */
    void (*loaded)(void);

    /* MPI_Init was called. */
    void (*entering)(void);

    /* A process that has called MPI_Init, or is about to, will not be recorded. */
    void (*unrecorded)(const char *why);

    /* MPI is initialized, and no run is open. A tool that records sets fields of agent_run_options, at least dir. */
    void (*preparing)(void);

    /* MPI is initialized, and the run is open if a tool set dir. In the initializing thread; others may call MPI. */
    void (*started)(void);

    /* While chain_follow_objects is on. */
    void (*object)(const struct chain_object *object);

    /* MPI_Pcontrol(level, argument, …), outermost calls only. Without further arguments, argument is undefined. */
    void (*pcontrol)(int level, const void *argument);

    /* MPI_Finalize was called but sessions remain; before the library's MPI_Finalize. */
    void (*world_ending)(void);

    /* Before the library's last MPI_Finalize or MPI_Session_finalize; in MPI_Abort; or when the process exits without
     * them. Called at most once. MPI may be called only in the first case, as a thread that crashed may hold the
     * library's locks. The run is still open: the last chance to write to it and to make notes for it. */
    void (*ending)(enum agent_end end);

    /* After the last call that counts, with the run closed. how: "finalize", "abort", "exit"; "unreached": without
     * MPI_Init. */
    void (*ended)(const char *how);

    /* In a forked child, after the chain was stopped: do not close anything, unmap memory, forget threads. */
    void (*forked)(void);
};

#endif
