/* chain.h: from the generated wrappers to the tools: which calls count, what is known of them, who is told.
 *
 * Every MPI_X and PMPI_X of the family is interposed (wrappers.c, generated from prototypes.txt). A wrapper looks at its
 * function's flag byte and, when that is 0, jumps on. Else the call is classified (does it count: chain_enter), described
 * as far as somebody asked (describe.h), observers and function tools are called, and the application's call goes on to
 * the next symbol of its own name.
 *
 * There are two kinds of tools. An *observer* is told that a call was entered and left, with a description that is the
 * same for all functions: virtual variables, the sampler's clock, profiles, events. A *function tool* has a function of
 * its own for an MPI function, with the interface of the QMPI draft: it gets the arguments and calls the next tool.
 * Observers are outside of all function tools; among themselves tools are called in the order in which they were added.
 *
 * Nothing here includes mpi.h: handles are numbers (mpi_handle). Nothing here locks, prints or ends the process. */
#ifndef MPITX_CHAIN_H
#define MPITX_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/call.h"

/* ---- functions ---- */

/* Functions are numbered from 0 in the order of prototypes.txt, then those that only the installed mpi.h has. The numbers
 * hold for one build of the agent; names are what is stable. */
extern const struct call_function chain_functions[];
extern const int chain_function_count;

/* The number of "MPI_Send" (also of "PMPI_Send", "MPI_SEND_T" and "MPI_SEND"), or -1. */
int chain_function_id(const char *name);

/* ---- calls ---- */

/* One counted call. Times that nobody asked for are 0. */
struct chain_call {
    int32_t function;
    uint8_t nested;      /* from a callback of the application, inside another counted call of its thread */
    uint8_t depth;       /* 0 for outermost calls */
    uint8_t name_shifted; /* came in as PMPI_X */
    uint8_t described;   /* CHAIN_DESCRIPTION was asked for by somebody: only then is it set */
    uint8_t abandoned;   /* in leave: the call was left by longjmp, an exception or cancellation; only times are valid */
    int32_t rc;          /* in leave: the MPI return code */
    uint64_t enter;      /* CHAIN_TIMES: clock_ticks() */
    uint64_t leave;      /* CHAIN_TIMES, in leave */
    const void *address; /* the caller's return address */

    struct call_description description; /* where described */
};

/* ---- observers ---- */

enum chain_wants {
    CHAIN_ENTER = 1,        /* call enter */
    CHAIN_LEAVE = 2,        /* call leave */
    CHAIN_TIMES = 4,        /* take time stamps */
    CHAIN_DESCRIPTION = 8,  /* fill in messages, bytes, peers, tags, requests */
    CHAIN_COMPLETIONS = 16, /* call completed, in the wrapper that completes, before leave */
};

#define CHAIN_OBSERVERS 8

struct chain_thread;
struct chain_observer {
    const char *name;
    void (*enter)(const struct chain_call *call, struct chain_thread *thread);
    void (*leave)(const struct chain_call *call, struct chain_thread *thread);
    void (*completed)(const struct chain_call *call, const struct call_completion *completion);
};

/* null.c is an observer that does nothing, to be copied.
 *
 * Adds an observer and returns its number (0..CHAIN_OBSERVERS-1), or -1 when there are too many. It observes nothing yet. */
int chain_add_observer(const struct chain_observer *observer);

/* Sets what an observer wants of a function (0: nothing); function -1 means all. May be called at any time from any
 * thread but not from two at once; takes effect on calls entered later, and not before MPI was initialised through us. */
void chain_observe(int observer, int function, unsigned wants);

/* ---- threads ---- */

#define CHAIN_FRAMES 8

/* What the chain and its tools keep per thread, in initial-exec TLS. */
struct chain_thread {
    uint32_t depth;                    /* counted calls that this thread is in */
    int32_t countdown;                 /* calls that go by before the one in which it runs out: see agent_due */
    const void *frames[CHAIN_FRAMES];  /* their stack frames: one at or above which we are called again was left */
    const void *addresses[CHAIN_FRAMES]; /* where they return to */
    int32_t functions[CHAIN_FRAMES];
    uint64_t entered[CHAIN_FRAMES];    /* CHAIN_TIMES */
    uint8_t shifted[CHAIN_FRAMES];     /* came in as PMPI_X */
    void *data[CHAIN_OBSERVERS];       /* an observer's own; NULL at first */
    struct tally *tally;               /* see tally.h */
    uint8_t known;                     /* its end will be noticed */
};

extern _Thread_local struct chain_thread chain_thread __attribute__((tls_model("initial-exec")));

/* Calls `end` for the data of a thread that ends, for every observer whose data is not NULL (one function per observer). */
void chain_on_thread_end(int observer, void (*end)(void *data));

/* ---- function tools (QMPI) ---- */

/* By value in a register, like MPICH's QMPI_Context; never looked into by tools. */
struct chain_context {
    const struct chain_call *call;
};

typedef void chain_any_function(void);

/* What a tool library gets: it is named by the configuration key `tool` and defines
 *     int mpitx_tool_init(const struct chain_tools *tools, int tool_id)
 * which registers its functions and returns 0, or another number to be left out. That happens in the application's
 * MPI_Init, after the library's. Functions have the type
 *     int f(struct chain_context context, int tool_id, <the arguments of the MPI function>)
 * Names are those of the QMPI draft without its prefix; functions are numbered by function_id. Return 0 or -1. MPI_Pcontrol
 * has the type int f(struct chain_context context, int tool_id, const int level, ...); of what follows the level, eight
 * integers or pointers and eight floating-point numbers reach a tool and what is behind it.
 * example/null_tool.c is such a tool, to be copied. */
struct chain_tools {
    uint32_t version, size; /* CHAIN_TOOLS_VERSION, sizeof(struct chain_tools) */
    int (*function_id)(const char *name); /* "MPI_Send" or "MPI_SEND_T"; -1: no such function */
    int (*register_storage)(int tool_id, void *storage);
    int (*register_function)(int tool_id, int function, chain_any_function *f);
    int (*get_function)(int calling_tool_id, int function, chain_any_function **f, int *next_tool_id);
    int (*get_storage)(struct chain_context context, int tool_id, void **storage);
    int (*get_calling_address)(struct chain_context context, void **address);
};

#define CHAIN_TOOLS_VERSION 1
#define CHAIN_MAX_TOOLS 16

extern const struct chain_tools chain_tools;

/* Makes a new function tool, the innermost so far, and returns its number (1, 2, …), or -1. */
int chain_add_tool(const char *name);

/* ---- life ---- */

/* Finds the next symbols (agent.c calls it in the constructor, wrappers when they come before that). */
void chain_resolve(void);

/* From an outermost MPI_Init on: flags follow what tools want. chain_stop clears them for good (fork child, trouble). */
void chain_go(void);
void chain_stop(void);
bool chain_running(void);

/* Calls agent_due when a thread's countdown has run out (on = true). */
void chain_countdown(bool on);

/* On: the next outermost call of any thread calls agent_due before it begins, wherever the countdown is; off again from there. */
void chain_alert(bool on);
bool chain_is_alerted(void);

/* Calls the agent_comm_* and agent_win_* hooks. */
void chain_follow_objects(bool on);

/* What went wrong: requests that found no place in the table, calls nested too deep. */
struct chain_losses {
    uint64_t requests, frames, memory;
};
struct chain_losses chain_losses(void);

#endif
