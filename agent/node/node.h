/* node.h: what the operating system says about this process and its node: variables mpitx:os/… and mpitx:net/….
 *
 *     node.c        the variables, and when they are read
 *     interfaces.c  network interfaces; infiniband.c: ports of InfiniBand
 *     sockets.c     the process's own TCP sockets
 *     system.c      memory, page faults, context switches, migrations
 *     counter.c     counters that wrap or restart
 *
 * Everything is read at once, when a sample is due, and for at most one in a hundred parts of the time. Nothing here
 * locks or allocates; no descriptor stays open, and the program's own are only asked. One thread at a time may call it.
 *
 * Variables are numbered; those of an interface exist from when it is first seen. */
#ifndef MPITX_NODE_H
#define MPITX_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/file.h"

#pragma GCC visibility push(hidden)

enum {
    NODE_INTERFACES = 64,
    NODE_PORTS = 16,
    NODE_OF_INTERFACE = 8,
    NODE_OF_PORT = 10
};

/* In the order of names.h. */
enum {
    NODE_FAULTS, /* and the three after it: from getrusage */
    NODE_MEMORY = NODE_FAULTS + 4,
    NODE_MIGRATIONS,
    NODE_CONNECTIONS,
    NODE_SENT,
    NODE_RETRANSMITTED,
    NODE_OWN,
    NODE_NET = NODE_OWN,
    NODE_IB = NODE_NET + NODE_INTERFACES * NODE_OF_INTERFACE,
    NODE_VARIABLES = NODE_IB + NODE_PORTS * NODE_OF_PORT
};

/* ---- node.c ---- */

struct node_info {
    char name[128];
    const char *description, *unit; /* unit: NULL for numbers */
    int var_class;                  /* enum mpitx_pvar_class; all are MPITX_TYPE_UINT64_T */
    bool shared;                    /* of the whole node: one process is enough to read it */
};

/* Looks for interfaces. root is in front of the paths of what is not the process's own; "" or, in tests, a folder. */
void node_open(const char *root);

/* False when no variable has this number, so far. */
bool node_info(int index, struct node_info *info);

void node_want(int index); /* reads it from now on */

/* Reads if that is due, or always, and returns whether it has. now is in nanoseconds. */
bool node_read(uint64_t now, bool always);

struct node_value {
    uint64_t value;
    int status;         /* enum mpitx_run_status */
    const char *reason; /* why it has no value; NULL: it has */
};
struct node_value node_value(int index);

const char *node_unknown(int index); /* why the variable can never be read here; NULL: it can */
const char *node_left_out(void);     /* what exceeds a limit; NULL: nothing */

/* ---- the sources; each fills in values from its first number on ---- */

extern bool interfaces_too_many, infiniband_too_many, sockets_too_many;

void interfaces_read(const char *root);
const char *interfaces_name(int interface); /* with odd bytes as %XX; NULL: it does not exist */

void infiniband_read(const char *root, const bool *wanted);
const char *infiniband_name(int port);       /* "mlx5_0/1"; NULL: it does not exist */
bool infiniband_has(int port, int counter);

void sockets_read(void);

void system_read(const bool *wanted);
bool system_migrations(uint64_t *count);

/* ---- counter.c ---- */

struct node_counter {
    uint64_t raw, passed;
    struct node_value now;
    bool known, wide; /* wide: it has more than 32 bits */
};

extern struct node_counter node_counters[NODE_VARIABLES];

/* A new value. A counter that falls has started again, or wrapped at 32 bits if it was near that limit. */
void counter_set(struct node_counter *counter, uint64_t raw);
/* The same for one that stops at the limit of this many bits instead of wrapping. */
void counter_set_limited(struct node_counter *counter, uint64_t raw, unsigned bits, unsigned scale);
void counter_set_level(struct node_counter *counter, uint64_t value);
void counter_lost(struct node_counter *counter, const char *reason);

#pragma GCC visibility pop

#endif
