/* chain_internal.h: what chain.c, resolve.c and the generated wrappers share. */
#ifndef MPITX_CHAIN_INTERNAL_H
#define MPITX_CHAIN_INTERNAL_H

#include "chain/chain.h"
#include "mpi/library.h"

#pragma GCC visibility push(hidden)

/* A function's flags. With those below CHAIN_FLAG_FULL alone a call takes the light way, see wrap.h. */
enum chain_flag {
    CHAIN_FLAG_TALLY = 1,       /* count the call */
    CHAIN_FLAG_TALLY_BYTES = 2, /* and its messages */
    CHAIN_FLAG_DUE = 4,         /* the sampler's countdown, when the call is over */
    CHAIN_FLAG_DUE_FIRST = 8,   /* the same before the call, of functions that wait for others */
    CHAIN_FLAGS_DUE = CHAIN_FLAG_DUE | CHAIN_FLAG_DUE_FIRST,
    CHAIN_FLAG_DEPTH = 16,      /* nothing but that inner calls are seen as such */
    CHAIN_FLAG_TALLY_TIME = 32, /* and its time; the highest of these: below it no clock is read */
    CHAIN_FLAG_FULL = 64,
    CHAIN_FLAG_ENTER = 64, /* an observer's enter */
    CHAIN_FLAG_LEAVE = 128, /* an observer's leave */
    CHAIN_FLAG_TIME = 256,
    CHAIN_FLAG_DESCRIBE = 512,
    CHAIN_FLAG_TOOLS = 1024, /* a function tool */
    CHAIN_FLAG_HOOK = 2048, /* the agent itself: initialisation, end, objects */
    CHAIN_FLAG_UNRESOLVED = 4096
};

struct chain_link {
    chain_any_function *function;
    int tool_id;
};

/* The functions behind a wrapper: see wrap.h. light and timed are whole where messages cannot be counted on the light way. */
struct chain_choice {
    chain_any_function *due, *light, *timed, *whole;
};

/* One place per function, defined in wrappers.c. */
extern uint16_t chain_flags[];
extern uint8_t chain_enter_masks[], chain_leave_masks[], chain_complete_masks[];
extern uint8_t chain_wants[];   /* [CHAIN_OBSERVERS][chain_function_count] */
extern uint8_t chain_foreign[]; /* another PMPI tool behind us has this function, which may call others */
extern chain_any_function *chain_next[], *chain_next_shifted[];
extern chain_any_function *chain_ways[], *chain_ways_shifted[]; /* where the wrappers jump to; until the next symbols are found: whole */
extern const struct chain_choice chain_choices[]; /* of all MPI_X, then of all PMPI_X; empty where there is no such wrapper */
extern struct chain_link chain_links[]; /* the first function tool */
extern chain_any_function *const chain_lasts[];
extern const uint16_t chain_starting_flags[];
extern const uint8_t chain_light[]; /* its messages can be counted on the light way */

/* ---- chain.c ---- */

/* For a thread that is in a counted call already: forgets calls that were left, and answers the new call's depth, or
 * CHAIN_FRAMES when it does not count. */
uint32_t chain_enter_nested(const void *address, const void *frame);
void chain_tell_enter(const struct chain_call *call, struct chain_thread *thread);
void chain_tell_leave(const struct chain_call *call, struct chain_thread *thread);
void chain_due(struct chain_thread *thread);
void chain_know_thread(void);

/* The observer that the light way stands for (virtual.c); -1: none. */
extern int chain_tally_observer;

/* Sets all flags anew from what is wanted. */
void chain_set_flags(void);

/* Chooses every way again, and the way of a call that arrived before that. */
void chain_set_ways(void);
chain_any_function *chain_way(int function, int shifted);

extern int32_t chain_alert_sign; /* -1: alerted, 0 */

extern uint64_t chain_lost_frames;

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

/* ---- tools.c ---- */
void chain_load_tools(void);

#pragma GCC visibility pop

#endif
