/* probe.h: trying variables in a process that may die. */
#ifndef MPITX_PROBE_H
#define MPITX_PROBE_H

#include "shim/mpitx.h"

enum mpitx_probe_kind { MPITX_PROBE_CVAR = 1, MPITX_PROBE_PVAR, MPITX_PROBE_CATEGORY };

/* How far a trial came. The order is that of the calls. */
enum mpitx_probe_step {
    MPITX_STEP_NONE = 0,
    MPITX_STEP_INFO,
    MPITX_STEP_ENUM,    /* of a variable: get_info and get_item of its enumeration */
    MPITX_STEP_MEMBERS, /* of a category */
    MPITX_STEP_ALLOC,
    MPITX_STEP_START,
    MPITX_STEP_READ,
    MPITX_STEP_WRITE,
    MPITX_STEP_DONE
};

enum mpitx_probe_fault { MPITX_FAULT_NONE = 0, MPITX_FAULT_CRASH, MPITX_FAULT_TIMEOUT, MPITX_FAULT_GIVEN_UP };

/* One variable or category. kind, index and trial are set by the caller, the rest by the probe. */
struct mpitx_probe_item {
    int kind, index;
    const void *new_value; /* what to write instead of the present value; NULL: the present value */
    int new_type;          /* its type and bytes: a value that is not of the variable's is not written */
    size_t new_bytes;
    int fault;             /* enum mpitx_probe_fault */
    int fault_step;        /* the call that did not come back */
    int signal;            /* that ended the child, 0 if it exited */
    int step;              /* the last call entered */
    int doubtful;          /* tried behind a crash in the same process: to be tried again in a fresh one */
    int info_rc, alloc_rc, start_rc, read_rc;
    int write_rc;          /* -1: not tried */
    int back_rc;           /* of reading back; -1: not tried */
    int bind, datatype;
    int unbound;           /* bound to an object that was not given: not opened */
    int excluded;          /* to be left alone: not opened */
    int count;             /* -1 where the library left it untouched */
    int overrun;           /* the library wrote behind the value's end */
    int too_large;         /* the value did not fit */
    uint32_t offset, length;           /* the value read, in the data area */
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
    int leaving[MPITX_PROBE_LEAVING], num_leaving; /* children that have finished and may not have exited */
};

/* A variable that is only asked for its name. */
struct mpitx_probe_excluded {
    const char *name;
    int var_class; /* of a performance variable; -1: a control variable */
};

struct mpitx_probe_options {
    int object;       /* what communicator-bound variables are bound to; MPITX_OBJECT_NONE: they are not opened */
    int trial_writes; /* control variables: write the present value (or new_value), in the child only */
    int limit_ms;     /* time without progress after which a call counts as hanging */
    int total_ms;     /* for the whole probe */
    const struct mpitx_probe_excluded *excluded;
    int num_excluded;
    void (*in_child)(void); /* called there first; NULL: nothing */
};

int mpitx_probe_new(struct mpitx_probe *probe, int num_items, size_t data_size);
void mpitx_probe_wait(struct mpitx_probe *probe); /* for the exit of the children: run returns before it */
void mpitx_probe_free(struct mpitx_probe *probe); /* also waits */
int mpitx_probe_run(struct mpitx_probe *probe, const struct mpitx_table *table, const struct mpitx_probe_options *options);

#endif
