/* trigger.h: shared by the parts of the tool that checks conditions in MPI calls.
 *
 *     trigger.c   the tool: start, end, checks
 *     config.c    triggers as configured
 *     program.c   conditions
 *     values.c    the variables that conditions read
 *     names.c     communicators by name
 *     fire.c      what happens when a condition becomes true
 *
 * Variables are read and sampled with the sampler's lock. The rest is per thread, or changes only when objects are
 * named. */
#ifndef MPITX_TRIGGER_H
#define MPITX_TRIGGER_H

#include "chain/unwind.h"
#include "run/process.h"
#include "tools/sample/sampler.h"
#include "tools/tool.h"
#include "tools/trigger/program.h"

#pragma GCC visibility push(hidden)

enum { TRIGGER_MOST = 32, TRIGGER_EVENTS = 1000, TRIGGER_STACK = CHAIN_SITES, TRIGGER_LEVELS = 999 };

/* Actions. */
enum { TRIGGER_EVENT = 1, TRIGGER_BACKTRACE = 2, TRIGGER_SAMPLE = 4, TRIGGER_PCONTROL = 8, TRIGGER_STOP = 16 };

struct trigger_variable {
    struct pattern names;
    struct pvar_variable *variable; /* NULL: there is none (yet) */
    bool follows;                   /* it is read for the call's communicator */
};

/* The past of a value of which the increase is needed. */
struct trigger_past {
    double last, rate;
    uint64_t at;
    bool known;
};

struct trigger {
    struct program program;
    uint32_t number; /* from 0 */
    const char *text, *on, *values[PROGRAM_LOADS];
    const char *names[PROGRAM_NAMES];
    uint8_t *functions; /* by function: bit 0: checked in its calls; bit 1 + K: matches the condition's Kth pattern */
    struct trigger_variable variables[PROGRAM_LOADS];
    struct trigger_past past[PROGRAM_LOADS];
    bool at_return, uses_arguments, uses_transfers, uses_time;
    unsigned actions;
    int level, signal; /* of pcontrol and stop */
    char then[96];

    int variables_seen;    /* pvar.variable_count when variables were looked for */
    _Atomic bool holds;    /* it was true at the last check */
    _Atomic uint32_t events;
};

/* One check of a trigger in a call. */
struct trigger_check {
    struct program_subject subject; /* first */
    struct trigger *trigger;
    uint64_t now;
    bool locked, busy;
    double values[PROGRAM_LOADS]; /* NaN: not read */
};

/* A row of the table "triggers": of a thread. */
struct trigger_row {
    struct mpitx_run_row head;
    uint32_t number, condition, on, then;
    uint32_t values[PROGRAM_LOADS];
    uint64_t checked, held, fired, missed, recorded;
};

struct trigger_thread {
    int stream; /* of events; negative: none */
    struct trigger_row *rows[TRIGGER_MOST];
};

/* config.c */
extern struct trigger *triggers;
extern int trigger_count;
void trigger_configure(void);

/* values.c */
double trigger_load(struct program_subject *subject, int load);
bool trigger_lock(void); /* waits a little */

/* names.c */
bool trigger_comm(const struct program_subject *subject, int name);
void trigger_object(const struct chain_object *object);
bool trigger_has_names(void);

/* fire.c */
bool trigger_declare(void);
struct trigger_row *trigger_row(struct trigger_thread *thread, const struct trigger *trigger); /* NULL: no room */
void trigger_fire(struct trigger_thread *thread, struct trigger_check *check);

#pragma GCC visibility pop

#endif
