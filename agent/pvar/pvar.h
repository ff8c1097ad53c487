/* pvar.h: the library's variables and the agent's own: choosing them, trying them, binding them to objects, reading them now.
 *
 *     library.c  the library's MPI_T, initialised once
 *     pattern.c  patterns of variables: a glob, a class, objects
 *     select.c   which variables: patterns against what the library and the agent offer
 *     probe.c    trying variables in forked children without the application noticing
 *     group.c    handles of an object's variables, their columns and sets in the run
 *     read.c     the values of one instant
 *     set.c      control variables: --set read back, --set-after written
 *     value.c    a control variable's value to and from text
 *
 * Nothing here locks: after the start, one thread at a time. */
#ifndef MPITX_PVAR_H
#define MPITX_PVAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/agent.h"
#include "binding/probe.h"
#include "binding/shim/mpitx.h"
#include "mpi/objects.h"
#include "pvar/pattern.h"
#include "run/process.h"

#pragma GCC visibility push(hidden)

/* ---- what is selected ---- */

struct pvar_pattern {
    const char *text; /* as configured */
    struct pattern names;
    bool matched, noted;
};

enum pvar_proof { PVAR_UNPROVED, PVAR_GOOD, PVAR_BAD };

struct pvar_variable {
    bool virtual; /* the agent's own */
    int index;
    char *name, *description;
    const char *unit; /* NULL: none, or unknown */
    int var_class, datatype, bind;
    bool continuous, raw; /* raw: shown as it is by default */
    size_t size; /* of an element */
    unsigned objects; /* enum pattern_objects */
    enum pvar_proof proof;
    char *enum_name;
    struct mpitx_run_enum_item *items;
    uint32_t item_count;
    bool enum_flags;
};

/* ---- what is read ---- */

struct pvar_object {
    uint64_t id; /* 0: none; 1: MPI_COMM_WORLD; 2: MPI_COMM_SELF; then one for each made */
    int bind;    /* enum mpitx_bind: COMM, WIN or NO_OBJECT */
    union mpi_handle handle;
    char zeros[MPITX_OBJECT_ZEROS]; /* Open MPI 6 reads past the handle */
    struct object_facts facts;
};

/* One variable for one object. */
struct pvar_reading {
    struct pvar_variable *variable;
    struct pvar_object *object;
    mpitx_handle handle;
    uint32_t count;
    char *target;      /* in a row */
    uint32_t row, position, columns; /* its first column: in which row, which of the row's; how many (in rows that follow) */
    int rc, code;      /* of the last read; as the library gave it */
    int virtual;       /* the agent's own variable; -1: the library's */
    bool dead;         /* is read no more */
};

/* A set of the run. */
struct pvar_row {
    int set; /* -1: not declared */
    bool library; /* of the library's variables */
    uint32_t bytes, columns;
    uint32_t first_reading, readings; /* whose columns these are */
    char *row, *last;  /* last: when it was compared; NULL: never */
    uint32_t *column;  /* the run's identifiers */
    uint8_t *statuses;
    uint32_t bad;      /* statuses that are not OK */
};

/* What is read together and ends together. */
struct pvar_group {
    struct pvar_group *next, *previous;
    struct pvar_object objects[3];
    int object_count;
    struct pvar_reading *readings;
    uint32_t reading_count;
    struct pvar_row *rows;
    uint32_t row_count;
    bool declared, refused;
};

/* ---- the variables of this process ---- */

struct pvar {
    const struct mpitx_table *table; /* NULL: the library has none */
    bool mpi_t;              /* MPI_T is initialised */
    int t_level;             /* enum mpitx_thread, 0 without MPI_T */
    mpitx_handle session;

    struct pvar_pattern *patterns;
    int pattern_count;
    struct pvar_variable **variables;
    int variable_count;
    int library_count;       /* performance variables of the library seen so far */
    bool follow;             /* some variable wants objects made later */
    bool started;            /* the application goes on: variables that were not tried before are late */
    bool own_only;           /* the agent's own variables alone are read */
    struct pvar_group *groups;
    uint64_t next_object;
    uint64_t refused_objects, skipped_objects;
};

extern struct pvar pvar;

/* What kind of object the variables of a bind are bound to; for those that have one. */
static inline enum call_object pvar_kind(int bind) { return bind == MPITX_BIND_MPI_WIN ? CALL_WIN : CALL_COMM; }

const char *pvar_rc_name(int rc); /* "MPI_T_ERR_INVALID_INDEX" */

/* library.c */
bool pvar_open(void);    /* finds MPI_T's routines; notes say why not */
void pvar_start_mpi_t(void); /* where some pattern or setting asks for it */

/* select.c */
void pvar_read_patterns(void);
bool pvar_wants_library(void); /* some pattern may match the library's variables */
bool pvar_has_own(void);       /* some variable is the agent's own */
void pvar_select(void);        /* all there are now and have not been seen */
void pvar_note_unmatched(bool at_end);
void pvar_offer(const char *name); /* a name that may have been meant, for the run; NULL ends them */

/* probe.c */
void pvar_prove(const struct pvar_object *object); /* all unproved ones that can be bound to it, or to nothing */
bool pvar_probes(void); /* else variables are read that were not tried */
extern void (*pvar_in_child)(void); /* what a child does first that tries variables */
int pvar_probe_run(struct mpitx_probe *probe, const struct mpitx_probe_options *options, const struct mpitx_table *table);

/* group.c */
struct pvar_group *pvar_group_first(void);
struct pvar_group *pvar_group_new(int bind, union mpi_handle handle, const char *how);
struct pvar_group *pvar_group_late(int first_variable); /* of variables without object that appeared since */
struct pvar_group *pvar_group_find(int bind, union mpi_handle handle);
void pvar_group_free(struct pvar_group *group); /* frees the handles, tells the run */
void pvar_group_unbind(struct pvar_group *group, const char *why); /* frees those that are bound to objects */
bool pvar_group_declare(struct pvar_group *group);
/* In samples from now on; with a reason also in the column's record. */
void pvar_reading_status(struct pvar_group *group, struct pvar_reading *reading, int status, const char *reason);

/* read.c */
void pvar_read_bind(void *library);
void pvar_read(struct pvar_group *group, uint64_t now);
bool pvar_leave_library(void); /* its variables are read no more; whether any was */

/* set.c */
bool pvar_has_settings(void);
void pvar_apply_settings(void);

/* value.c */
struct pvar_cvar {
    int index;
    int datatype, scope, bind, count;
    size_t size;
    mpitx_handle enumtype;
};
/* false: no value of this variable, with the reason in why */
bool pvar_value_parse(const struct mpitx_table *t, const struct pvar_cvar *v, const char *text, char *out, char *why, size_t why_len);
void pvar_value_print(const struct mpitx_table *t, const struct pvar_cvar *v, const char *value, char *text, size_t len);
bool pvar_value_equal(const struct pvar_cvar *v, const char *a, const char *b);

#pragma GCC visibility pop

#endif
