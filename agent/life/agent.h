/* agent.h: the agent's life in somebody else's process, and the hooks of the parts that record (run.c, sampler.c).
 *
 * The agent is preloaded. Without MPITX_AGENT in the environment it only passes calls on. With it, the constructor reads the
 * configuration; the outermost MPI_Init, MPI_Init_thread or MPI_Session_init that comes through a wrapper starts
 * everything else; MPI_Finalize ends it. It prints nothing, ends nothing, waits for nothing. What goes wrong becomes a note. */
#ifndef MPITX_AGENT_H
#define MPITX_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "chain/chain.h"

/* ---- configuration: MPITX_AGENT, lines of key=value; \n and \\ stand for line feed and backslash ---- */

/* The value of the nth line (0, 1, …) with this key, or NULL. Valid for the life of the process. */
const char *agent_config(const char *key, int nth);

/* The keys that the recording parts know, ended by NULL; the default has none. Others become notes. */
extern const char *const agent_sampler_keys[];

/* ---- notes: for the run's header or end; bounded, kept in order, the rest counted ---- */

void agent_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int agent_note_count(void);              /* also those that had no room */
const char *agent_note_text(int index); /* NULL: had no room, or no such note */

/* Notes of a process that has no run go to agent_unrecorded. */
void agent_tell_unrecorded(void);

/* ---- what is known of this process ---- */

enum agent_state {
    AGENT_ABSENT,  /* no configuration: passes calls on, for ever */
    AGENT_ARMED,   /* waits for MPI_Init */
    AGENT_STARTING, /* in agent_started */
    AGENT_RUNNING,
    AGENT_ENDING,  /* in agent_ending */
    AGENT_ENDED,   /* after it */
    AGENT_DORMANT  /* a fork child, another family's library, or agent_give_up: passes calls on, for ever */
};

struct agent_process {
    _Atomic enum agent_state state;
    int rank, size;           /* in MPI_COMM_WORLD; without one (sessions) the launcher's, or -1 */
    int thread_level;         /* MPI_THREAD_SINGLE 0 … MULTIPLE 3, as provided; -1 unknown */
    bool sessions;            /* started by MPI_Session_init */
    bool loaded_later;        /* MPI came by dlopen */
    const char *library;      /* path of the MPI library; "" unknown */
    union mpi_handle world, self; /* MPI_COMM_WORLD and MPI_COMM_SELF; 0 unknown */
    uint64_t spawned;         /* processes that this one has started by MPI_Comm_spawn */
    int init_function;        /* the call that started the agent, MPI_Init or its like; */
    uint64_t init_ticks;      /* when it was entered, */
    uint64_t start_ticks;     /* and when it returned */
};

extern struct agent_process agent_process;

/* On any doubt: notes the reason, stops the chain, calls no hook again. */
void agent_give_up(const char *reason);

/* A detached or joinable thread (as pthread_create) with all signals blocked. */
int agent_thread(pthread_t *thread, void *(*run)(void *), void *argument);

/* ---- hooks: hooks.c has empty weak ones. They must not print, block or end the process ---- */

/* The process has the agent; before its main. */
void agent_loaded(void);

/* A process that has called MPI_Init, or is about to, will not be recorded. */
void agent_unrecorded(const char *why);

/* The process has the agent; before its main. */
void agent_loaded(void);

/* MPI_Init was called. */
void agent_entering(void);

/* A process that has MPI will not be recorded. */
void agent_unrecorded(const char *why);

/* MPI is initialised; tools may be activated; other threads may already call MPI. On the initialising thread. */
void agent_started(void);

enum agent_end { AGENT_FINALIZE = 1, AGENT_EXIT = 2, AGENT_ABORT = 3 }; /* numbered like enum mpitx_run_end */

/* The last MPI_Finalize or MPI_Session_finalize was called and has not gone on yet; or MPI_Abort; or the process exits without
 * either. MPI may be called only in the first case: a thread that crashed may hold the library's locks. At most once. */
void agent_ending(enum agent_end end);

/* MPI_Finalize was called and has not gone on yet, but sessions remain. */
void agent_world_ending(void);

/* A thread's chain_thread.countdown ran out in an outermost call, which is over, or has not begun where it waits for others or
 * chain_alert was on; it is to be set anew. Only while chain_countdown is on; a thread's first call is such a one. */
void agent_due(struct chain_thread *thread);

/* While chain_follow_objects is on. A communicator was made (also: MPI_Comm_idup has completed), was named, is about
 * to be freed; how says by which function ("MPI_Comm_split"). Freeing is also told of calls that do not count. */
void agent_comm_created(union mpi_handle comm, const char *how);
void agent_comm_named(union mpi_handle comm, const char *name);
void agent_comm_freeing(union mpi_handle comm);
void agent_win_created(union mpi_handle win, const char *how);
void agent_win_named(union mpi_handle win, const char *name);
void agent_win_freeing(union mpi_handle win);

/* MPI_Pcontrol(level, …), counted calls only. */
void agent_pcontrol(int level);

/* In a child that is a copy of the process. */
void agent_become_child(void);

/* There, after the chain was stopped: close nothing, unmap, forget threads. */
void agent_forked(void);

#endif
