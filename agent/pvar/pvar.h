/* pvar.h: the library's variables and the virtual ones: selecting, trying, binding and reading them.
 *
 *     library.c  the library's MPI_T, initialized once
 *     pattern.c  patterns of variables: a glob, a class, objects
 *     select.c   matches patterns with the variables of the library and the agent
 *     probe.c    tries variables in forked children without side effects on the application
 *     group.c    handles of an object's variables, and their columns and sets in the run
 *     read.c     reads the values of one instant
 *     node.c     the variables of the node, which are read less often
 *     set.c      control variables: verifies --set, writes --set-after
 *     value.c    converts a control variable's value to and from text
 *
 * Nothing here locks: after the start, only one thread at a time may call it. */
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

/* ---- selected variables ---- */

struct pvar_pattern {
    const char *text; /* as configured */
    struct pattern names;
    bool matched, noted;
};

enum pvar_trial { PVAR_UNTRIED, PVAR_GOOD, PVAR_BAD };

struct pvar_variable {
    bool virtual; /* virtual: computed by the agent */
    int index;
    char *name, *description;
    const char *unit; /* NULL: none, or unknown */
    int var_class, datatype, bind;
    bool continuous, raw; /* raw: shown raw by default */
    size_t size; /* of an element */
    unsigned objects; /* enum pattern_objects */
    enum pvar_trial trial;
    char *enum_name;
    struct mpitx_run_enum_item *items;
    uint32_t item_count;
    bool enum_flags;
};

/* ---- readings ---- */

struct pvar_object {
    uint64_t id; /* 0: none; 1: MPI_COMM_WORLD; 2: MPI_COMM_SELF; then one for each new object */
    int bind;    /* enum mpitx_bind */
    union mpi_handle handle;
    char zeros[MPITX_OBJECT_ZEROS]; /* Open MPI 6 reads past the handle */
    struct object_facts facts;
};

/* One variable bound to one object. */
struct pvar_reading {
    struct pvar_variable *variable;
    struct pvar_object *object;
    mpitx_handle handle;
    uint32_t count;
    char *target;      /* where the value goes, in a row */
    /* the row and the position of its first column; the number of columns, in consecutive rows */
    uint32_t row, position, columns;
    int rc, code;      /* of the last read: our code and the library's */
    int virtual;       /* index of a virtual variable, or of the node's; -1: the library's variable */
    bool dead;         /* no longer read */
};

/* A set of the run. */
struct pvar_row {
    int set; /* -1: not declared */
    bool library; /* it has variables of the library */
    uint32_t bytes, columns;
    uint32_t first_reading, readings; /* the readings that it contains */
    char *row, *last;  /* last: the row when last compared; NULL: never */
    uint32_t *column;  /* the run's identifiers */
    uint8_t *statuses;
    uint32_t bad;      /* statuses that are not OK */
};

/* Readings that are read together and end together. */
struct pvar_group {
    struct pvar_group *next, *previous;
    struct pvar_group *same; /* the next one in the index of objects */
    struct pvar_object objects[3];
    int object_count;
    struct pvar_reading *readings;
    uint32_t reading_count;
    struct pvar_row *rows;
    uint32_t row_count;
    bool declared, refused, suspended;
    bool node; /* the node's variables, which are read in some samples only */
};

/* ---- the variables of this process ---- */

struct pvar {
    const struct mpitx_table *table; /* NULL: the library has none */
    void *read_routine;      /* the library's MPI_T_pvar_read */
    bool mpi_t;              /* MPI_T is initialised */
    int t_level;             /* enum mpitx_thread, 0 without MPI_T */
    bool busy;               /* at the end, another thread may still be in MPI_T */
    mpitx_handle session;

    struct pvar_pattern *patterns;
    int pattern_count;
    struct pvar_variable **variables;
    int variable_count;
    int library_count;       /* performance variables of the library seen so far */
    bool follow;             /* some variable is to be read for later objects */
    bool started;            /* the application runs: untried variables are late */
    bool virtual_only;       /* only virtual variables are read */
    bool stopped;            /* the library must not be called: see pvar_stop_library */
    bool node_read;          /* the node's variables were read for this sample */
    struct pvar_group *groups;
    uint64_t next_object;
    uint64_t refused_objects, skipped_objects;
};

extern struct pvar pvar;

/* The kind of object that variables with a bind are bound to; CALL_COMM if they are bound to none. */
static inline enum call_object pvar_kind(int bind)
{
    static const unsigned char kinds[MPITX_BIND_MPI_SESSION + 1] = {
        [MPITX_BIND_MPI_DATATYPE] = CALL_DATATYPE, [MPITX_BIND_MPI_ERRHANDLER] = CALL_ERRHANDLER,
        [MPITX_BIND_MPI_FILE] = CALL_FILE, [MPITX_BIND_MPI_GROUP] = CALL_GROUP, [MPITX_BIND_MPI_OP] = CALL_OP,
        [MPITX_BIND_MPI_REQUEST] = CALL_REQUEST, [MPITX_BIND_MPI_WIN] = CALL_WIN,
        [MPITX_BIND_MPI_MESSAGE] = CALL_MESSAGE, [MPITX_BIND_MPI_INFO] = CALL_INFO,
        [MPITX_BIND_MPI_SESSION] = CALL_SESSION};
    return kinds[bind];
}

/* Whether the objects of a bind, which are neither communicators nor windows, are bound when they are first sampled. */
static inline bool pvar_binds_later(int bind)
{
    return bind != MPITX_BIND_NO_OBJECT && bind != MPITX_BIND_MPI_COMM && bind != MPITX_BIND_MPI_WIN;
}

const char *pvar_rc_name(int rc); /* "MPI_T_ERR_INVALID_INDEX" */

/* library.c */
const char *pvar_object_word(int bind); /* "a datatype" */
bool pvar_open(void);    /* finds MPI_T's routines; on failure, notes say why */
bool pvar_init_mpi_t(const char *without); /* once; on failure, a note says that there is "no …" (without) and why */
void pvar_start_mpi_t(void); /* with a session */
void pvar_before_last_session(void); /* ends MPI_T where the library needs it; nothing may use it then or later */

/* select.c */
void pvar_read_patterns(void);
bool pvar_wants_library(void); /* a pattern may match variables of the library */
bool pvar_has_virtual(void);   /* a virtual variable is selected */
void pvar_select(void);        /* selects from all variables that are new */
void pvar_note_unmatched(bool at_end);
unsigned pvar_wanted(const char *name, int var_class, bool virtual); /* enum pattern_objects; 0: not selected */
void pvar_matched(const char *start); /* patterns that start so have matched */
bool pvar_add(const struct pvar_variable *variable); /* copies it */
void pvar_suggest(const char *name); /* adds a similar name to the run; NULL ends the list */

/* probe.c */
unsigned pvar_binds(void); /* 1 << bind of the variables that are selected and not bad */
void pvar_try_new(const struct pvar_object *object); /* tries untried variables that are bound to it or to nothing */
bool pvar_probes(void); /* false: variables are read untried */
extern void (*pvar_in_child)(void); /* called first in a child that tries variables */
int pvar_probe_run(struct mpitx_probe *probe, const struct mpitx_probe_options *options,
                   const struct mpitx_table *table);

/* group.c */
struct pvar_group *pvar_group_first(void);
struct pvar_group *pvar_group_new(int bind, union mpi_handle handle, const char *how);
/* Of an object that pvar_binds_later; name "": it gets one from how. */
struct pvar_group *pvar_group_later(int bind, union mpi_handle handle, const char *how, const char *name);
void pvar_group_suspend(struct pvar_group *group); /* frees the handles; the group is not sampled until it is resumed */
void pvar_group_resume(struct pvar_group *group);
struct pvar_group *pvar_group_late(int first_variable); /* of new variables without object */
struct pvar_group *pvar_group_find(int bind, union mpi_handle handle);
void pvar_group_free(struct pvar_group *group); /* frees the handles and sets the columns' status */
void pvar_group_unbind(struct pvar_group *group, const char *why); /* frees the handles that are bound to objects */
bool pvar_group_declare(struct pvar_group *group);
/* Sets the status in samples from now on; with a reason also in the column's record. */
void pvar_reading_status(struct pvar_group *group, struct pvar_reading *reading, int status, const char *reason);

/* read.c */
void pvar_read(struct pvar_group *group, uint64_t now);
bool pvar_read_one(struct pvar_group *group, struct pvar_reading *reading, uint64_t now); /* false: there is no value */
double pvar_element(const struct pvar_reading *reading, uint32_t element); /* of the last value; NaN: no such element */
bool pvar_stop_library(void); /* stops reading the library's variables; returns whether any was read */

/* node.c */
void pvar_node_open(void);                       /* selects and declares; after the other variables */
void pvar_node_read(uint64_t now, bool always);  /* if they are due; sets pvar.node_read */

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
/* Returns false if text is not a value of the variable; why has the reason. */
bool pvar_value_parse(const struct mpitx_table *t, const struct pvar_cvar *v, const char *text, char *out, char *why,
                      size_t why_len);
void pvar_value_print(const struct mpitx_table *t, const struct pvar_cvar *v, const char *value, char *text,
                      size_t len);
bool pvar_value_equal(const struct pvar_cvar *v, const char *a, const char *b);

#pragma GCC visibility pop

#endif
