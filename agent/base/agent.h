/* agent.h: shared by every part of the agent: configuration, notes, facts about the process, threads.
 *
 * The agent is preloaded. Without MPITX_AGENT in the environment it only passes calls on. It prints nothing, never ends
 * the process and never blocks. Problems become notes. */
#ifndef MPITX_AGENT_H
#define MPITX_AGENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- configuration: MPITX_AGENT, lines of key=value; \n and \\ stand for line feed and backslash ---- */

/* Parses the text in place and keeps it. Unknown keys become notes. */
void agent_configure(char *text, bool (*known)(const char *key));

/* Returns the value of the nth line (0, 1, …) with this key, or NULL. Valid for the life of the process. */
const char *agent_config(const char *key, int nth);

/* Whether a key's first value is this text; whether any of its values is a glob that matches it. */
bool agent_config_is(const char *key, const char *text);
bool agent_config_matches(const char *key, const char *text);

/* Returns a key's value as a number. An invalid number becomes a note. */
uint64_t agent_config_number(const char *key, uint64_t otherwise);

/* Reports whether a NULL-terminated list contains a key. */
bool agent_has_key(const char *const *keys, const char *key);

/* ---- notes for the run: kept in order up to a limit, then only counted ---- */

void agent_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
int agent_note_count(void);              /* including those over the limit */
const char *agent_note_text(int index); /* NULL: over the limit, or no such note */

/* ---- facts about this process ---- */

enum agent_state {
    AGENT_ABSENT,  /* no configuration: only passes calls on */
    AGENT_ARMED,   /* waits for MPI_Init */
    AGENT_STARTING, /* tools are being started */
    AGENT_RUNNING,
    AGENT_ENDING,  /* tools are being ended */
    AGENT_ENDED,   /* tools have ended */
    AGENT_DORMANT  /* a forked child, or another family's library: only passes calls on */
};

struct agent_process {
    _Atomic enum agent_state state;
    int rank, size;           /* in MPI_COMM_WORLD; with sessions the launcher's, or -1 */
    int first;                /* the number of MPI_COMM_WORLD's rank 0 in the run: 0, or more for spawned processes */
    int thread_level;         /* MPI_THREAD_SINGLE 0 … MULTIPLE 3, as provided; -1 unknown */
    bool sessions;            /* started by MPI_Session_init */
    bool loaded_later;        /* MPI was loaded by dlopen */
    const char *library;      /* path of the MPI library; "" unknown */
    uint64_t world, self;     /* the handles MPI_COMM_WORLD and MPI_COMM_SELF as numbers; 0 unknown */
    uint64_t spawned;         /* number of processes started by MPI_Comm_spawn without the agent */
    int init_function;        /* the call that started the agent, such as MPI_Init */
    uint64_t init_ticks;      /* when it was entered */
    uint64_t start_ticks;     /* when it returned */
};

extern struct agent_process agent_process;

/* ---- threads ---- */

/* Thread-local storage. Initial-exec works because the agent is preloaded. */
#define AGENT_THREAD _Thread_local __attribute__((tls_model("initial-exec")))

/* Creates a thread like pthread_create, with all signals blocked. */
int agent_thread(pthread_t *thread, void *(*run)(void *), void *argument);

/* A thread of agent_thread calls agent_thread_begins first; agent_thread_is_own asks whether a thread has. */
void agent_thread_begins(void);
bool agent_thread_is_own(uint32_t id);

#pragma GCC visibility pop

#endif
