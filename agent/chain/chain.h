/* chain.h: from the MPI wrappers to the tools: which calls count, what is known of them, who is called.
 *
 * Every MPI_X and PMPI_X of the family is interposed (wrappers.c, generated from prototypes.txt). A call takes one of three ways
 * through its wrapper:
 *     jump on   to the next symbol of its name, as nobody wants anything of this function;
 *     count down  the sampler's countdown, and jump on;
 *     record    find out whether the call counts, describe it (mpi/describe.h) as far as somebody asked, call observers and
 *               function tools, and call the next symbol.
 *
 * There are two kinds of tools. An *observer* is called when a call was entered and left, with a record that is the same for all
 * functions: counting, profiles, events. A *function tool* has a function of its own for an MPI function, with the interface of the
 * QMPI draft: it gets the arguments and calls the next tool. Observers are outside of all function tools; among themselves tools
 * are called in the order in which they were added.
 *
 * Nothing here includes mpi.h. Nothing here locks, prints or ends the process. The chain knows no tool, and of the agent's life only
 * struct chain_owner. */
#ifndef MPITX_CHAIN_H
#define MPITX_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/agent.h"
#include "mpi/call.h"

/* ---- functions ---- */

/* Functions are numbered from 0 in the order of prototypes.txt, then those that only the installed mpi.h has. The numbers
 * hold for one build of the agent; names are what is stable. */
extern const struct call_function chain_functions[];
extern const int chain_function_count;

/* The number of "MPI_Send" (also of "PMPI_Send", "MPI_SEND_T" and "MPI_SEND"), or -1. */
int chain_function_id(const char *name);

/* ---- calls ---- */

/* The record of one counted call, in its thread's chain_thread. Outer calls are in the places before it (call[-1] has the depth less 1). */
struct chain_call {
    const void *frame;    /* the stack above the call: a frame at or above which the thread calls again was left */
    const void *address;  /* the caller's return address */
    uint64_t enter;       /* CHAIN_TIMES: clock_ticks(), else 0 */
    uint64_t leave;       /* CHAIN_TIMES, in leave */
    int32_t function;
    int32_t rc;           /* in leave: the MPI return code */
    uint16_t flags;       /* the chain's own */
    uint8_t depth;        /* 0 for outermost calls; more: from a callback of the application, inside other counted calls */
    uint8_t shifted;      /* came in as PMPI_X */
    uint8_t described;    /* somebody asked for CHAIN_DESCRIPTION: only then is the description set */
    uint8_t abandoned;    /* in leave: the call was left by longjmp, an exception or cancellation; only times are valid */
    struct call_description description;
};

/* ---- observers ---- */

enum chain_wants {
    CHAIN_ENTER = 1,        /* call enter */
    CHAIN_LEAVE = 2,        /* call leave */
    CHAIN_TIMES = 4,        /* take time stamps */
    CHAIN_DESCRIPTION = 8,  /* fill in messages, bytes, peers, tags, requests */
    CHAIN_COMPLETIONS = 16, /* call completed, in the wrapper that completes, before leave */
};

/* Calls that an observer does not need are NULL. What it keeps for a thread it has in a variable of its own (AGENT_THREAD). */
struct chain_observer {
    const char *name;
    void (*enter)(const struct chain_call *call);
    void (*leave)(const struct chain_call *call);
    void (*completed)(const struct chain_call *call, const struct call_completion *completion);
    void (*thread_end)(void); /* this thread, which has made counted calls, ends */
};

/* Sets what an observer wants of a function (0: nothing); function -1 means all. May be called at any time from any thread but not from
 * two at once; takes effect for calls entered later, and not before chain_go. False if memory is refused. */
bool chain_observe(const struct chain_observer *observer, int function, unsigned wants);

/* ---- threads ---- */

#define CHAIN_FRAMES 8

struct chain_thread {
    uint32_t depth;    /* counted calls that this thread is in */
    int32_t countdown; /* calls that go by before the one in which it runs out: see chain_countdown. The stubs know this place */
    uint8_t known;     /* its end will be noticed */
    struct chain_call calls[CHAIN_FRAMES];
};

extern AGENT_THREAD struct chain_thread chain_thread;

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
 * has the type int f(struct chain_context context, int tool_id, const int level, ...); after the level, fifteen
 * integers or pointers and eight floating-point numbers reach the tool and the functions after it.
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

/* ---- the agent's life ---- */

/* Finds the next symbols (in the constructor, and from wrappers that come before that). */
void chain_resolve(void);

/* From an outermost MPI_Init on: flags follow what tools want. chain_stop clears them for good (fork child, trouble). */
void chain_go(void);
void chain_stop(void);
bool chain_running(void);

/* Calls due when a thread's countdown has run out in an outermost call, which is over, or has not begun where it waits for others or
 * chain_alert was on; thread->countdown is to be set then. A thread's first call is such a one. NULL: no more. */
void chain_countdown(void (*due)(struct chain_thread *thread));

/* On: the next outermost call of any thread is such a one before it begins, wherever the countdown is; off again from there. */
void chain_alert(bool on);
bool chain_is_alerted(void);

/* A communicator or window was made (also: MPI_Comm_idup has completed), was named, is about to be freed. The last is told of calls
 * that do not count, too. */
enum chain_object_event { CHAIN_OBJECT_MADE, CHAIN_OBJECT_NAMED, CHAIN_OBJECT_FREEING };
struct chain_object {
    enum chain_object_event event;
    bool window;
    union mpi_handle handle;
    const char *text; /* made: by which function ("MPI_Comm_split"); named: the name */
};

/* On: the owner's object is called. */
void chain_follow_objects(bool on);

/* Callbacks for the start and end of MPI and for its objects. They must not print, block or end the process. */
struct chain_owner {
    void (*before_init)(void);
    bool (*after_init)(const struct chain_call *call, int rc, int level, bool sessions); /* true: the agent runs */
    void (*before_finalize)(bool session);
    void (*after_finalize)(void);
    void (*before_abort)(void);
    void (*foreign)(const char *path); /* the library that was found is of another family */
    bool (*armed)(void);               /* MPI's start is waited for */
    void (*object)(const struct chain_object *object);
    void (*pcontrol)(int level);
};

/* Registers the owner; until then no callback is called. */
void chain_belong(const struct chain_owner *owner);

/* What went wrong: requests that found no place in the table, calls nested too deep. */
struct chain_losses {
    uint64_t requests, frames, memory;
};
struct chain_losses chain_losses(void);

#endif
