/* chain.h: connects the MPI wrappers to the tools: which calls count, their records, and who is called.
 *
 * Every MPI_X and PMPI_X of the family is interposed (wrappers.c, generated from prototypes.txt). A wrapper handles a
 * call in one of three ways:
 *     jump        to the next symbol of its name: no tool wants anything of this function
 *     count down  the sampler's countdown, then jump to the next symbol
 *     record      check whether the call counts, describe it (mpi/describe.h) as far as a tool wants that, call
 *                 observers and function tools, and call the next symbol
 *
 * There are two kinds of tools. An *observer* is called when a call is entered and left, with a record that is the same
 * for all functions. It suits counters, profiles and events. A *function tool* has its own function for an MPI
 * function, with the interface of the QMPI draft: it gets the arguments and calls the next tool. Observers are outside
 * all function tools. Tools of one kind are called in the order of registration.
 *
 * Nothing here includes mpi.h. Nothing here locks, prints or ends the process. The chain depends on no tool, and on the
 * rest of the agent only through struct chain_owner. */
#ifndef MPITX_CHAIN_H
#define MPITX_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/agent.h"
#include "mpi/call.h"
#include "qmpi/connect.h"

/* ---- functions ---- */

/* Functions are numbered from 0: first the functions of prototypes.txt in its order, then those that only the installed
 * mpi.h has. Tools contain the former numbers (qmpi/functions.txt); the latter are valid for one build. */
extern const struct call_function chain_functions[];
extern const int chain_function_count, chain_table_count;

/* The number of "MPI_Send" (also of "PMPI_Send"), or -1. */
int chain_function_id(const char *name);

/* ---- calls ---- */

/* The record of one counted call, in its thread's chain_thread. Outer calls precede it: call[-1] is the next one. */
struct chain_call {
    const void *frame;    /* the caller's frame; the call was left if the thread calls again at or above it */
    const void *address;  /* the caller's return address */
    uint64_t enter;       /* CHAIN_TIMES or chain_take_times: clock_ticks(), else 0 */
    uint64_t leave;       /* likewise, in leave */
    int32_t function;
    int32_t rc;           /* in leave: the MPI return code; 0 for functions without one, -1 if the call was abandoned */
    uint16_t flags;       /* for the chain only */
    uint8_t depth;        /* 0: outermost; more: from a callback of the application, nested in counted calls */
    uint8_t shifted;      /* called as PMPI_X */
    uint8_t described;    /* the description is valid: an observer wants CHAIN_DESCRIPTION */
    uint8_t reached;      /* tools have let it come to the library; for calls that initialize MPI */
    uint8_t within;       /* with function tools: how many calls that they passed on are in the library */
    uint8_t abandoned;    /* in leave: the call ended by longjmp, an exception or cancellation; only times are valid,
                           * and of the description what the arguments say */
    struct call_description description;
};

/* Whether a call is nested in a call of the same function, whose time includes it. Not in a file of its own: static, it
 * spares its callers 1 ns a call for saving registers. */
static __attribute__((noinline, unused)) bool chain_recurses(const struct chain_call *call)
{
    for (const struct chain_call *outer = call - call->depth; outer < call; outer++)
        if (outer->function == call->function) return true;
    return false;
}

/* ---- observers ---- */

enum chain_wants {
    CHAIN_ENTER = 1,        /* call enter */
    CHAIN_LEAVE = 2,        /* call leave */
    CHAIN_TIMES = 4,        /* take time stamps */
    CHAIN_DESCRIPTION = 8,  /* fill in messages, bytes, peers, tags, requests */
    CHAIN_COMPLETIONS = 16, /* call completed, in the wrapper that completes, before leave */
};

/* Callbacks that are not needed are NULL. An observer keeps its data for each thread in its own AGENT_THREAD
 * variable. */
struct chain_observer {
    const char *name;
    void (*enter)(const struct chain_call *call);
    void (*leave)(const struct chain_call *call);
    void (*completed)(const struct chain_call *call, const struct call_completion *completion);
    /* with completed, in calls that took long: see chain_report_long */
    void (*send_ended)(const struct chain_call *call, struct call_peer to);
    void (*request_ended)(const struct chain_call *call, const struct call_request_end *end); /* with completed */
    /* A persistent receive or collective was started. */
    void (*restarted)(const struct chain_call *call, uint64_t request, enum call_restart what);
    void (*channel_made)(const struct chain_call *call, struct call_channel *channel); /* with completed */
    void (*thread_end)(void); /* at the end of a thread that has made counted calls */
};

/* Sets the callbacks that an observer wants for a function (0: none; function -1: for all functions). May be called at
 * any time, but not from two threads at once. Takes effect for later calls, and only after chain_go. False: out of
 * memory. */
bool chain_observe(const struct chain_observer *observer, int function, unsigned wants);

/* For `enter`, if the observer does not want CHAIN_TIMES of the function: takes time stamps of this call. */
void chain_take_times(const struct chain_call *call);

/* Sets `lasted` in the description of calls with times that take at least so many ticks. They also report requests that
 * sent messages when they complete. */
void chain_report_long(uint64_t ticks);

/* ---- threads ---- */

#define CHAIN_FRAMES 8

struct chain_thread {
    uint32_t depth;    /* counted calls that this thread is in */
    int32_t countdown; /* calls left until it runs out: see chain_countdown. stubs.h relies on its offset */
    uint8_t watched;    /* thread_end will be called for it */
    struct chain_call calls[CHAIN_FRAMES];
};

extern AGENT_THREAD struct chain_thread chain_thread;

/* ---- function tools (QMPI) ---- */

/* Function tools are libraries, or are linked into the application. agent/include/qmpi.h is their interface, and
 * docs/qmpi.md explains it. MPI_Pcontrol has the type int f(MPI_Context context, int tool_id, const int level, ...).
 * After the level, tools get fifteen integers or pointers and eight floating-point numbers. */
typedef qmpi_any_function chain_any_function;

enum { CHAIN_MAX_TOOLS = 16 };

/* Loads the libraries of the configuration. Their tools are initialized in the application's first MPI call. */
void chain_load_tools(void);

/* Loads and initializes the tools, writes lines about them to a descriptor, and ends the process. For mpitx itself. */
void chain_check_tools(int descriptor);

/* Stops calling tools, in a child of fork. */
void chain_drop_tools(void);

/* ---- the agent's life ---- */

/* Finds the next symbols. Called in the constructor, and from wrappers that run before it. */
void chain_resolve(void);

/* chain_go is called in the outermost MPI_Init; from then on, the flags follow what tools want. chain_stop clears them
 * for good (in a child of fork, or after an error). Neither concerns function tools. */
void chain_go(void);
void chain_stop(void);
bool chain_running(void);

/* Sets the function to call when a thread's countdown has run out in an outermost call; NULL: none. It is called after
 * the MPI call, or before it if the MPI function waits for other processes or chain_alert is on, and must set
 * thread->countdown. A thread's first call always triggers it. */
void chain_countdown(void (*due)(struct chain_thread *thread));

/* Sets the function to call for calls that the MPI library, or a tool after the agent, makes itself through the
 * functions' symbols. They do not count otherwise. outer: the call of the application in which it is made; NULL: none,
 * in a thread of the library. Only for functions that an observer wants. */
void chain_follow_inner(void (*inner)(int function, const struct chain_call *outer));

/* On: each outermost call of any thread triggers the function of chain_countdown when it starts and when it ends,
 * whatever the countdown is. */
void chain_alert(bool on);
bool chain_is_alerted(void);

/* A communicator, window or file was created (or an MPI_Comm_idup has completed), was named, or is about to be freed.
 * Freeing is also reported for calls that do not count. */
enum chain_object_event {
    CHAIN_OBJECT_MADE,
    CHAIN_OBJECT_NAMED,
    CHAIN_OBJECT_FREEING,
    CHAIN_OBJECT_TAKEN, /* of other kinds: a call begins that may complete this request */
    CHAIN_OBJECT_LEFT,  /* the call has returned; handle is what the request's place holds now */
};
struct chain_object {
    enum chain_object_event event;
    enum call_object kind;
    union mpi_handle handle;
    const char *text;        /* created: the function that created it ("MPI_Comm_split"); named: the name */
    const char *name;        /* created, of a file: its name */
    int function;            /* created */
    union mpi_handle parent; /* created: the communicator that it was made from; 0: none */
    int32_t job;             /* created: see struct call_creation */
    int32_t place;           /* taken, left: of the request in the call's array */
};

/* Calls the owner's object callback while more tools have switched this on than off. */
void chain_follow_objects(bool on);

/* The same for objects of other kinds (bits 1 << enum call_object, from CALL_DATATYPE on) that the program makes, in
 * calls that count: handle, text and function are set. For one subscriber; kinds 0 ends it. */
void chain_follow_others(unsigned kinds, void (*object)(const struct chain_object *object));

#define CHAIN_NOT_REACHED (-1) /* the error code for a tool that did not call the next function */

/* Callbacks for the start and end of MPI and for its objects. They must not print, block or end the process. */
struct chain_owner {
    void (*before_init)(void);
    bool (*after_init)(const struct chain_call *call, int rc, int level, bool sessions); /* true: the agent runs */
    void (*before_finalize)(bool session);
    void (*after_finalize)(void);
    void (*before_abort)(void);
    void (*other_family)(const char *path); /* the library found is of another family than the agent */
    bool (*armed)(void);               /* whether the agent waits for MPI to start */
    void (*object)(const struct chain_object *object);
    void (*pcontrol)(int level, const void *argument);
    bool (*spawning)(struct call_spawn *spawn); /* see call_hooks */
    void (*spawned)(struct call_spawn *spawn);
};

/* Requests that did not fit in the table, calls nested too deeply, calls not followed because memory ran out, and calls
 * whose bytes are missing because the library did not tell a size. */
struct chain_losses {
    uint64_t requests, locked, frames, memory, sizes;
};
struct chain_losses chain_losses(void);

#define CHAIN_TOO_DEEP "they were nested more than %d deep, in callbacks of MPI calls"

#endif
