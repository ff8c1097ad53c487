/* internal.h: shared by the files of this folder and the generated wrappers. */
#ifndef MPITX_CHAIN_INTERNAL_H
#define MPITX_CHAIN_INTERNAL_H

#include "chain/chain.h"
#include "chain/state.h"
#include "mpi/library.h"

#pragma GCC visibility push(hidden)

/* What a function's calls need. 0: nothing, they jump to the next symbol. */
enum chain_flag {
    CHAIN_FLAG_DUE = 1,       /* count down for the sampler, after the call */
    CHAIN_FLAG_DUE_FIRST = 2, /* the same before the call, for functions that wait for others */
    CHAIN_FLAGS_DUE = CHAIN_FLAG_DUE | CHAIN_FLAG_DUE_FIRST, /* with only these, stubs count down and jump on */
    CHAIN_FLAG_DEPTH = 4,     /* only tracks call depth */
    CHAIN_FLAG_ENTER = 8,     /* an observer's enter */
    CHAIN_FLAG_LEAVE = 16,    /* an observer's leave */
    CHAIN_FLAG_TIME = 32,
    CHAIN_FLAG_DESCRIBE = 64,
    CHAIN_FLAG_COMPLETIONS = 128, /* an observer's completed */
    CHAIN_FLAG_TOOLS = 256,       /* a function tool */
    CHAIN_FLAG_HOOK = 512,        /* initialization, end, objects */
    CHAIN_FLAG_UNRESOLVED = 1024,
    CHAIN_FLAG_START = 4096, /* function tools are to be initialized first */
    CHAIN_FLAG_OBJECTS = 8192,    /* follow the objects that it makes and ends, see chain_follow_others */
    CHAIN_FLAG_STATE = 2048 /* write the thread's state; with only this and a countdown, a function does nothing else */
};

struct chain_link {
    chain_any_function *function;
    int tool_id;
};

/* The observers to call, in lists that end with NULL. A list never changes; another list is selected instead. */
struct chain_observers {
    const struct chain_observer *const *enter, *const *leave, *const *completed;
};

/* One element per function, defined in wrappers.c. In pairs, the first is for MPI_X and the second for PMPI_X. */
extern uint16_t chain_flags[];
extern struct chain_observers chain_observers[];
extern uint8_t chain_tool_after[]; /* another PMPI tool after the agent wraps it, and may call other MPI functions */
extern chain_any_function *chain_next[][2];  /* next symbols */
extern chain_any_function *chain_targets[][2];  /* the functions that the wrappers jump to */
extern chain_any_function *const chain_records[][2]; /* the functions that record; NULL: no wrapper */
extern struct chain_link chain_links[];      /* the first function tool */
extern chain_any_function *const chain_library_calls[];
extern const uint16_t chain_starting_flags[];

extern const struct chain_observer *const chain_nobody[]; /* the empty list */

extern chain_any_function *const chain_states[][2]; /* the functions that only write states */
extern chain_any_function *chain_after_countdown[][2]; /* where to jump then: the next symbol, or in chain_states */
/* Of the objects that a function makes, ends or names: bits 1 << enum call_object. */
extern const uint16_t chain_object_kinds[];
extern const uint32_t chain_state_arguments[]; /* 0: the function has no state */

/* ---- observers.c ---- */

/* What an observer wants of each function; NULL: out of memory. */
uint8_t *chain_wants(const struct chain_observer *observer);
unsigned chain_wanted(int function); /* what any observer wants */
void chain_select_observers(int function); /* sets chain_observers */
void chain_observers_end_thread(void);

/* ---- flags.c ---- */

extern const struct chain_owner *chain_owner; /* set by the owner; until then no callback is called */

/* What flags and targets depend on. The files that change it call chain_set_flags or chain_set_targets. */
extern bool chain_resolved;   /* resolve.c: the next symbols are known */
extern bool chain_states_on;  /* state.c */
extern _Atomic int chain_tools; /* loadtools.c: function tools */
enum { TOOLS_NONE, TOOLS_AWAITED, TOOLS_LOADING, TOOLS_LOADED, TOOLS_STARTING, TOOLS_STARTED, TOOLS_ACTIVE,
      TOOLS_DROPPED };
extern char *chain_door_code;   /* doors.c: 16 bytes for each MPI_X and PMPI_X */
extern uint8_t chain_has_door[]; /* calls of this function go there first */
extern void (*chain_due)(struct chain_thread *thread); /* NULL: no countdown */
extern void (*chain_other_object)(const struct chain_object *object);

void chain_set_flags(void);
void chain_set_targets(void);
chain_any_function *chain_target(int function, int shifted); /* without the door */

void chain_run(void); /* from now on, flags follow what observers want */
void chain_pend(int change); /* while an MPI_Comm_idup is pending, completions must be described */

/* ---- frames.c ---- */

/* Whether a call with this frame is nested in another one, which has not been left. */
bool chain_is_nested(const void *frame, const void *outer_frame, const void *outer_address);

/* ---- threads.c ---- */

/* Has a function called at the end of the calling thread, and then the thread_end of observers. */
void chain_at_thread_end(void (*end)(void));

/* ---- state.c ---- */

extern uint64_t chain_state_words[]; /* of each function: `function` and `arguments` of its state */

/* For a thread that has no state, or is in a call already. NULL: the call is the library's. */
struct chain_state *chain_state_find(const void *address, const void *frame);
/* After a call by a callback. */
void chain_state_return(struct chain_state *state);
uint64_t chain_state_collective(uint32_t kind, uint64_t object);
void chain_state_persistent(uint64_t object, uint32_t number, bool start);
int32_t chain_state_rank(uint64_t object); /* of this process in a communicator; -1: unknown */
/* After a call that has tested something without success. */
void chain_state_test(struct chain_state *state);
void chain_state_epoch(enum chain_epoch what, const struct chain_state *state, int32_t target, uint64_t group);

/* ---- reads.c ---- */

/* Before a one-sided read of `bytes` bytes; 0: too many, or unknown. Progress unless it repeats an earlier one. */
void chain_state_read(struct chain_state *state, int64_t displacement, const void *buffer, uint64_t bytes);
/* Pending reads are complete. A changed value is progress. */
void chain_state_reads_end(struct chain_state *state);

/* ---- resolve.c ---- */

/* Whether the agent follows, or is about to follow, the library with this PMPI_Init. */
bool chain_follows(void *init, const char *path);

/* In the constructor: only if MPI is already loaded. Other constructors may have called MPI before. */
void chain_resolve_early(void);

/* ---- doors.c ---- */

/* In the constructor: if the program is not linked with a library, it may load several. Then calls that may precede
 * MPI_Init check whether their caller uses the library that the agent follows. */
void chain_watch_libraries(void);

/* ---- call.c ---- */

extern uint64_t chain_long; /* ticks: see chain_report_long */
extern int32_t chain_alert_sign; /* -1: alerted, 0 */
extern uint64_t chain_lost_frames;

/* Records a call in its thread's chain_thread if it counts. A thread's outermost call counts unless the MPI library
 * itself makes it. A nested call counts if a callback of the application makes it. NULL: the call does not count. */
struct chain_call *chain_enter(int function, int shifted, const void *address, const void *frame);

/* Called just before the next symbol or tool. */
void chain_begin(struct chain_call *call);

int chain_leave(struct chain_call *call, int rc);

void chain_report_enter(const struct chain_call *call);
void chain_report_leave(const struct chain_call *call);

/* ---- names.c ---- */

/* Notes the functions that the program finds only because of the agent, and the library's that the agent hides. */
void chain_compare_names(void);

/* ---- loadtools.c ---- */

/* Before the application's first call. False: the library or a tool makes the call itself. */
bool chain_start_tools(int function, const void *address);

#pragma GCC visibility pop

#endif
