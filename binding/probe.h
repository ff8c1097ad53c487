/* probe.h: tries variables in a process that may die. */
#ifndef MPITX_PROBE_H
#define MPITX_PROBE_H

#include "shim/mpitx.h"

enum mpitx_probe_kind { MPITX_PROBE_CVAR = 1, MPITX_PROBE_PVAR, MPITX_PROBE_CATEGORY, MPITX_PROBE_SOURCE, MPITX_PROBE_EVENT };

/* The progress of a trial, in the order of the calls. */
enum mpitx_probe_step {
    MPITX_STEP_NONE = 0,
    MPITX_STEP_INFO,
    MPITX_STEP_ENUM,     /* of a variable or event type: get_info and get_item of its enumeration */
    MPITX_STEP_MEMBERS,  /* of a category */
    MPITX_STEP_TIMESTAMP, /* of a source */
    MPITX_STEP_ALLOC,
    MPITX_STEP_REGISTER, /* of an event type: a callback */
    MPITX_STEP_HANDLE_INFO, /* of an event type: handle_get_info */
    MPITX_STEP_START,
    MPITX_STEP_READ,
    MPITX_STEP_WRITE,
    MPITX_STEP_RESET,
    MPITX_STEP_READRESET,
    MPITX_STEP_DONE
};

enum mpitx_probe_fault { MPITX_FAULT_NONE = 0, MPITX_FAULT_CRASH, MPITX_FAULT_TIMEOUT, MPITX_FAULT_GIVEN_UP };

/* What a trial does with a performance variable after reading it. */
enum mpitx_probe_change { MPITX_CHANGE_NONE = 0, MPITX_CHANGE_WRITE, MPITX_CHANGE_RESET, MPITX_CHANGE_READRESET };

/* One variable, category, event source or event type. The caller sets kind, index and new_value, the probe the rest. */
struct mpitx_probe_item {
    int kind, index;
    const void *new_value; /* the value to write; NULL: the current value */
    int new_type;          /* its type and bytes, which must be the variable's */
    size_t new_bytes;
    int change;            /* of a performance variable: enum mpitx_probe_change */
    int fault;             /* enum mpitx_probe_fault */
    int fault_step;        /* the call that did not return */
    int signal;            /* that ended the child; 0 if it exited */
    int step;              /* the last call entered */
    int doubtful;          /* tried after a crash in the same process: to be retried in a fresh one */
    int info_rc, alloc_rc, start_rc, read_rc; /* read_rc: of a source's get_timestamp, too */
    int safeties;          /* of an event type: 1 << s for each level s whose callback the library accepts */
    int write_rc;          /* -1: not tried */
    int back_rc;           /* result of reading back; -1: not tried */
    int bind, datatype;
    int unbound;           /* not opened: bound to an object that was not given */
    int excluded;          /* not opened: in the list of excluded variables */
    int count;             /* -1 if the library did not set it */
    int overrun;           /* the library wrote past the value's end */
    int too_large;         /* the value did not fit */
    uint32_t offset, length;           /* the value read, in the data area; of an event type: the keys and values of its handles' info */
    uint32_t back_offset, back_length; /* the value read back after writing new_value */
};

#define MPITX_PROBE_LEAVING 4

struct mpitx_probe {
    struct mpitx_probe_item *items;
    int num_items;
    char *data;
    size_t data_size;
    size_t mapped;
    int forks;
    int leaving[MPITX_PROBE_LEAVING], num_leaving; /* children that have finished but may not have exited */
};

/* A variable of which only the metadata are read. */
struct mpitx_probe_excluded {
    const char *name;
    int var_class; /* of a performance variable; -1: a control variable */
};

struct mpitx_probe_options {
    int object;       /* the object for variables bound to a communicator; MPITX_OBJECT_NONE: they are not opened */
    int trial_writes; /* write control variables' current value (or new_value), in the child only */
    int limit_ms;     /* time without progress after which a call counts as hanging */
    int total_ms;     /* limit of the whole probe */
    const struct mpitx_probe_excluded *excluded;
    int num_excluded;
    void (*in_child)(void); /* called first in the child; may be NULL */
};

int mpitx_probe_new(struct mpitx_probe *probe, int num_items, size_t data_size);
void mpitx_probe_wait(struct mpitx_probe *probe); /* waits for the exit of the children, which run does not */
void mpitx_probe_free(struct mpitx_probe *probe); /* waits too */
int mpitx_probe_run(struct mpitx_probe *probe, const struct mpitx_table *table, const struct mpitx_probe_options *options);

#endif
