/* where.h: the table that says what each thread does now, for `mpitx where`. */
#ifndef MPITX_WHERE_H
#define MPITX_WHERE_H

#include "chain/state.h"
#include "run/process.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

enum { WHERE_PENDING = 16, WHERE_ROWS = 1024 };
#define WHERE_UNKNOWN UINT32_MAX

/* A row of the table. The thread writes `state`, the heartbeat the rest. */
struct where_row {
    struct chain_state state;
    uint64_t since;   /* when the heartbeat first saw the state `seen` */
    uint64_t seen;    /* 2 * state.calls + whether it is in the call */
    uint64_t moved;   /* when the heartbeat last saw `progress` change */
    uint64_t beat;    /* when the heartbeat was here last */
    uint64_t looked;  /* state.progress + 1 at the last look at requests; 0: during a look */
    uint64_t left;    /* the number of a call that the thread has left by longjmp or an exception */
    uint64_t sited;   /* the number of the call that `site` is of */
    uint64_t site;    /* the application's return address, if `address` is in one of the library's bindings */
    uint64_t asleep; /* 1 + state.calls: after this call, it waits for another thread of the process; 0: it does not */
    uint32_t working; /* threads of the process without a row that may call MPI and wait for none; or WHERE_UNKNOWN */
    uint32_t dormant; /* those that wait on a futex or for input: another process, signal or message may wake them */
    uint32_t pending; /* requests that had not completed then */
    uint32_t listed;  /* of those, how many are in the following */
    uint64_t pending_object[WHERE_PENDING];
    int32_t pending_peer[WHERE_PENDING], pending_tag[WHERE_PENDING];
    uint32_t pending_function[WHERE_PENDING], pending_number[WHERE_PENDING], pending_starts[WHERE_PENDING];
    uint64_t sleeping; /* 1 + state.calls: after this call, the thread sleeps; 0: it does not, or it is not known yet */
    uint32_t outside;  /* where it sleeps, in the kernel's words */
    uint32_t busy;     /* 1: meanwhile, other threads of the process compute */
    uint64_t stacked;  /* the number of the call that the thread's row of `stacks` is of */
    uint64_t slept;    /* when it was last found asleep outside of MPI */
};

/* rows.c */
bool where_declare_rows(void);
struct where_row *where_row(int index); /* NULL: there are no more */
bool where_has_row(uint32_t thread);
struct chain_state *where_begin_row(uint32_t nested); /* of the calling thread */
void where_end_row(struct chain_state *state);
bool where_close_rows(void); /* the run is over; false: threads may still write to their rows */
bool where_lock(void);                 /* false: the run is over */
void where_unlock(void);

/* threads.c: threads that are not in MPI */
void threads_before_init(void);
void threads_after_init(void);
bool threads_may_call(void);      /* more than one thread may call MPI */
bool threads_is_helper(uint32_t id); /* the library made it in MPI_Init */
bool threads_sleeps(uint32_t id); /* it waits for another thread of the process */
uint32_t threads_working(bool (*known)(uint32_t id), uint32_t *dormant); /* others that may call MPI later */

/* epochs.c */
bool epochs_start(void); /* false: there is no room in the run */
void epochs_change(enum chain_epoch what, const struct chain_state *state, int32_t target, uint64_t group);

/* stacks.c */
bool stacks_start(void); /* false: there is no room in the run */
bool stacks_still_in(const struct chain_state *state, uint64_t calls);
void stacks_take(int index, struct where_row *row, uint64_t calls); /* index: of where_row */

/* outside.c */
void where_look_outside(void); /* under the lock, a few times a second */

/* heartbeat.c */
extern const uint32_t *where_texts; /* of functions' names, by number */
void where_heartbeat_start(void);

#pragma GCC visibility pop

#endif
