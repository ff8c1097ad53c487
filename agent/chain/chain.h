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
 * Nothing here includes mpi.h: handles are numbers (chain_handle). Nothing here locks, prints or ends the process. */
#ifndef MPITX_CHAIN_H
#define MPITX_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- functions ---- */

/* What a function does, as far as the description of its calls goes; the words of prototypes.txt. */
enum chain_kind {
    CHAIN_OTHER,
    CHAIN_POINT_TO_POINT,
    CHAIN_COMPLETION, /* wait, test, start and what else works on requests */
    CHAIN_COLLECTIVE,
    CHAIN_RMA,
    CHAIN_IO,
    CHAIN_TOOL /* MPI_T_* */
};

/* What a function's calls can carry; 0 where nothing is known. */
enum chain_traffic {
    CHAIN_SENDS = 1,     /* messages or bytes leave */
    CHAIN_RECEIVES = 2,  /* messages or bytes arrive */
    CHAIN_REQUESTS = 4,  /* starts or completes requests */
    CHAIN_COMPLETES = 8, /* can complete a receive, or a request that made a communicator */
    CHAIN_OBJECTS = 16,  /* makes, names or frees communicators or windows */
    CHAIN_FORWARDS = 32  /* a removed function: libraries jump from it to its successor */
};

struct chain_function {
    const char *name;   /* "MPI_Send" */
    uint8_t kind;       /* enum chain_kind */
    uint8_t traffic;    /* enum chain_traffic */
};

/* Functions are numbered from 0 in the order of prototypes.txt, then those that only the installed mpi.h has. The numbers
 * hold for one build of the agent; names are what is stable. */
extern const struct chain_function chain_functions[];
extern const int chain_function_count;
extern const char chain_family[]; /* "openmpi", "mpich", "abi" */

/* The number of "MPI_Send" (also of "PMPI_Send", "MPI_SEND_T" and "MPI_SEND"), or -1. */
int chain_function_id(const char *name);

/* The library's own function (what PMPI_X leads to after us), or NULL where it has none. For the agent's own calls. */
void *chain_library_function(const char *name);

/* ---- calls ---- */

/* An MPI handle as a number that does not depend on the family. Its address is a valid MPI_Comm * (and so on). */
union chain_handle {
    uint64_t number;
    int small; /* MPICH */
    void *pointer;
};

/* One counted call. Times that nobody asked for are 0. Peers, tags and roots that do not apply are CHAIN_NONE. */
struct chain_call {
    int32_t function;
    uint8_t nested;      /* from a callback of the application, inside another counted call of its thread */
    uint8_t depth;       /* 0 for outermost calls */
    uint8_t name_shifted; /* came in as PMPI_X */
    uint8_t described;   /* CHAIN_DESCRIPTION was asked for by somebody: only then is the second half set */
    uint8_t abandoned;   /* in leave: the call was left by longjmp, an exception or cancellation; only times are valid */
    int32_t rc;          /* in leave: the MPI return code */
    uint64_t enter;      /* CHAIN_TIMES: clock_ticks() */
    uint64_t leave;      /* CHAIN_TIMES, in leave */
    const void *address; /* the caller's return address */

    /* Where described; valid in enter: */
    int32_t peer;        /* destination, source or root, as the application gave it: a rank in comm */
    int32_t world_peer;  /* the same in MPI_COMM_WORLD where that is known for nothing, else CHAIN_NONE */
    int32_t tag;
    int32_t request_count;     /* how many requests the call takes or makes */
    uint64_t comm;             /* or the window, or the file */
    const void *requests;      /* the application's MPI_Request array; NULL: none */

    /* Where described; valid in leave, all since the call was entered and 0 for a call that failed: */
    uint32_t sent, received;          /* point-to-point messages */
    uint64_t sent_bytes, received_bytes; /* of those */
    uint64_t gave, got;               /* bytes of collectives and RMA, as the arguments say, and of files; collectives also when
                                         a persistent one starts, in a CHAIN_COMPLETION function */
    uint64_t read;                    /* bytes from files, of requests that completed */
    uint32_t operations;              /* collective or one-sided, that started; to MPI_PROC_NULL: none */
    uint32_t started, completed;      /* requests; the latter also in a call that failed */

    uint64_t made; /* where the call takes requests: the agent's own, see requests.h */
};

#define CHAIN_NONE (-1000000)

/* A request that completed, for observers that want each (CHAIN_COMPLETIONS). */
struct chain_completion {
    uint64_t request;    /* the handle it had */
    int32_t function;    /* the function that made it */
    int32_t peer, tag;   /* of a receive: the status's; of others as given */
    uint8_t received;    /* 1: a message arrived */
    uint8_t cancelled;
    uint64_t comm, bytes;
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
    void (*completed)(const struct chain_call *call, const struct chain_completion *completion);
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
    uint64_t type, type_size;          /* the last datatype's size, see describe.h */
    uint32_t type_generation;
    uint8_t known;                     /* its end will be noticed */
    uint8_t scratch_used;
    void *scratch;                     /* see describe_requests.c */
    size_t scratch_size;
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
