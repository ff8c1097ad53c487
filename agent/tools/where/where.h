/* where.h: the table that says what each thread does now, for `mpitx where`. */
#ifndef MPITX_WHERE_H
#define MPITX_WHERE_H

#include "chain/state.h"
#include "run/process.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

enum { WHERE_PENDING = 8, WHERE_ROWS = 1024 };

/* A row of the table. The thread writes `state`, the heartbeat the rest. */
struct where_row {
    struct chain_state state;
    uint64_t since;   /* when the heartbeat first saw the state `seen` */
    uint64_t seen;    /* 2 * state.calls + state.inside */
    uint64_t moved;   /* when the heartbeat last saw `progress` change */
    uint64_t beat;    /* when the heartbeat was here last */
    uint64_t looked;  /* state.progress + 1 at the last look at requests; 0: during a look */
    uint32_t pending; /* requests that had not completed then */
    uint32_t listed;  /* of those, how many are in the following */
    uint64_t pending_object[WHERE_PENDING];
    int32_t pending_peer[WHERE_PENDING], pending_tag[WHERE_PENDING];
    uint32_t pending_function[WHERE_PENDING];
};

/* where.c */
extern const uint32_t *where_texts;    /* of functions' names, by number */
struct where_row *where_row(int index); /* NULL: there are no more */
bool where_lock(void);                 /* false: the run is over */
void where_unlock(void);

/* heartbeat.c */
void where_heartbeat_start(void);

#pragma GCC visibility pop

#endif
