/* internal.h: what chain.c, call.c, functiontools.c and the generated wrappers share. */
#ifndef MPITX_CHAIN_INTERNAL_H
#define MPITX_CHAIN_INTERNAL_H

#include "chain/chain.h"
#include "mpi/library.h"

#pragma GCC visibility push(hidden)

/* What is wanted of a function. 0: its calls jump on. */
enum chain_flag {
    CHAIN_FLAG_DUE = 1,       /* the sampler's countdown, when the call is over */
    CHAIN_FLAG_DUE_FIRST = 2, /* the same before the call, of functions that wait for others */
    CHAIN_FLAGS_DUE = CHAIN_FLAG_DUE | CHAIN_FLAG_DUE_FIRST, /* these alone: they count down, and jump on */
    CHAIN_FLAG_DEPTH = 4,     /* nothing but that inner calls are seen as such */
    CHAIN_FLAG_ENTER = 8,     /* an observer's enter */
    CHAIN_FLAG_LEAVE = 16,    /* an observer's leave */
    CHAIN_FLAG_TIME = 32,
    CHAIN_FLAG_DESCRIBE = 64,
    CHAIN_FLAG_COMPLETIONS = 128, /* an observer's completed */
    CHAIN_FLAG_TOOLS = 256,       /* a function tool */
    CHAIN_FLAG_HOOK = 512,        /* initialisation, end, objects */
    CHAIN_FLAG_UNRESOLVED = 1024
};

struct chain_link {
    chain_any_function *function;
    int tool_id;
};

/* Who is called, in lists that end with NULL and never change: what changes is which list is used. */
struct chain_observers {
    const struct chain_observer *const *enter, *const *leave, *const *completed;
};

/* One place per function, defined in wrappers.c; of two, the first is MPI_X, the second PMPI_X. */
extern uint16_t chain_flags[];
extern struct chain_observers chain_observers[];
extern uint8_t chain_foreign[];              /* another PMPI tool wraps this function after the agent, and may call others */
extern chain_any_function *chain_next[][2];  /* next symbols */
extern chain_any_function *chain_ways[][2];  /* where the wrappers jump to */
extern chain_any_function *const chain_records[][2]; /* the way that records; NULL: no such wrapper */
extern struct chain_link chain_links[];      /* the first function tool */
extern chain_any_function *const chain_lasts[];
extern const uint16_t chain_starting_flags[];

extern const struct chain_observer *const chain_nobody[]; /* the empty list */

/* ---- chain.c ---- */

extern const struct chain_owner *chain_owner;

/* Sets all flags again from what is wanted. */
void chain_set_flags(void);

/* Chooses every way again, and the way of a call that arrived before that. */
void chain_set_ways(void);
chain_any_function *chain_way(int function, int shifted);

extern int32_t chain_alert_sign; /* -1: alerted, 0 */
extern uint64_t chain_lost_frames;

/* thread_end of all observers. */
void chain_end_thread(void);

/* ---- call.c ---- */

extern void (*chain_due)(struct chain_thread *thread); /* NULL: nothing is counted down */

/* Takes a call on its thread's record if it counts: the outermost call of a thread does, unless the MPI library itself makes it, and an
 * inner one does when the application makes it from a callback. NULL: it only goes on. */
struct chain_call *chain_enter(int function, int shifted, const void *address, const void *frame);

/* Just before the call goes on. */
void chain_begin(struct chain_call *call);

int chain_leave(struct chain_call *call, int rc);

void chain_tell_enter(const struct chain_call *call);
void chain_tell_leave(const struct chain_call *call);

/* ---- resolve.c ---- */

extern bool chain_resolved;

/* Whether the library with this PMPI_Init is the one that is followed, or will be. */
bool chain_follows(void *init, const char *path);

/* ---- second.c ---- */

/* From now on the first calls look whether their caller uses the library that is followed. Where MPI may be loaded later. */
void chain_open_doors(void);
/* Where a wrapper must go to find that out; NULL: it need not. */
chain_any_function *chain_door_of(int function, int shifted);

/* ---- names.c ---- */

/* Notes functions that the program finds because of the agent, and those of the library that the agent does not show. */
void chain_compare_names(void);

/* ---- functiontools.c ---- */
void chain_load_tools(void);

#pragma GCC visibility pop

#endif
