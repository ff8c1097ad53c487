/* agent.h: what every part of the agent may use: its configuration, notes, what is known of this process, threads.
 *
 * The agent is preloaded. Without MPITX_AGENT in the environment it only passes calls on. It prints nothing, ends nothing, waits
 * for nothing. What goes wrong becomes a note. */
#ifndef MPITX_AGENT_H
#define MPITX_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- configuration: MPITX_AGENT, lines of key=value; \n and \\ stand for line feed and backslash ---- */

/* Keeps the text, and changes it. Keys that are not known become notes. */
void agent_configure(char *text, bool (*known)(const char *key));

/* The value of the nth line (0, 1, …) with this key, or NULL. Valid for the life of the process. */
const char *agent_config(const char *key, int nth);

/* A number that is the key's value; a note where it is none. */
uint64_t agent_config_number(const char *key, uint64_t otherwise);

/* Whether a list that NULL ends has a key. */
bool agent_lists(const char *const *keys, const char *key);

/* ---- notes: for the run's header or end; bounded, kept in order, the rest counted ---- */

void agent_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int agent_note_count(void);              /* also those that had no room */
const char *agent_note_text(int index); /* NULL: had no room, or no such note */

/* ---- what is known of this process ---- */

enum agent_state {
    AGENT_ABSENT,  /* no configuration: passes calls on, for ever */
    AGENT_ARMED,   /* waits for MPI_Init */
    AGENT_STARTING, /* tools are being started */
    AGENT_RUNNING,
    AGENT_ENDING,  /* tools are being ended */
    AGENT_ENDED,   /* after it */
    AGENT_DORMANT  /* a fork child, or another family's library: passes calls on, for ever */
};

struct agent_process {
    _Atomic enum agent_state state;
    int rank, size;           /* in MPI_COMM_WORLD; without one (sessions) the launcher's, or -1 */
    int thread_level;         /* MPI_THREAD_SINGLE 0 … MULTIPLE 3, as provided; -1 unknown */
    bool sessions;            /* started by MPI_Session_init */
    bool loaded_later;        /* MPI came by dlopen */
    const char *library;      /* path of the MPI library; "" unknown */
    uint64_t world, self;     /* the handles MPI_COMM_WORLD and MPI_COMM_SELF as numbers; 0 unknown */
    uint64_t spawned;         /* processes that this one has started by MPI_Comm_spawn */
    int init_function;        /* the call that started the agent, MPI_Init or its like; */
    uint64_t init_ticks;      /* when it was entered, */
    uint64_t start_ticks;     /* and when it returned */
};

extern struct agent_process agent_process;

/* ---- threads ---- */

/* A thread's variable. Initial-exec: the agent is preloaded, so that there is room for it. */
#define AGENT_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

/* A detached or joinable thread (as pthread_create) with all signals blocked. */
int agent_thread(pthread_t *thread, void *(*run)(void *), void *argument);

#pragma GCC visibility pop

#endif
