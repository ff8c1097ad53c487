/* sampler.h: what the parts of the sampler share. From outside it is known by the hooks of agent.h only.
 *
 *     sampler.c         configuration, the hooks, start and end
 *     sampler_select.c  which variables: patterns against what the library and the agent offer
 *     sampler_probe.c   trying variables in forked children without the application noticing
 *     sampler_group.c   handles of an object's variables, their columns and sets in the run
 *     sampler_object.c  communicators and windows that are made, named and freed
 *     sampler_take.c    one sample; when the next is due
 *     sampler_read.c    the values of one
 *     sampler_thread.c  the thread that fills in when no call samples
 *     sampler_quiet.c   what it does less of while nothing moves
 *     sampler_pace.c    what it does less of while all cores compute
 *     sampler_core.c    a core for it
 *     sampler_set.c     control variables: --set read back, --set-after written
 *     sampler_value.c   a control variable's value to and from text
 *     sampler_note.c    what the run is told in words
 *     sampler_seen.c    reports processes that record nothing
 *     sampler_mpi.c     the few questions to MPI that need mpi.h
 *
 * One lock (sampler_lock) guards the groups, the run's rows and MPI_T handles. It is taken at most for one sample, or for
 * making or freeing one object's handles. */
#ifndef MPITX_SAMPLER_H
#define MPITX_SAMPLER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "binding/probe.h"
#include "binding/shim/mpitx.h"
#include "life/agent.h"
#include "mpi/objects.h"
#include "run/run.h"

/* ---- what is selected ---- */

/* Which objects a variable that needs one is read for. */
enum sampler_objects { SAMPLER_WORLD = 1, SAMPLER_SELF = 2, SAMPLER_ALL = 4 };

struct sampler_pattern {
    const char *text; /* as configured */
    char *glob;
    int var_class;    /* 0: any */
    unsigned objects;
    bool matched, noted;
};

enum sampler_proof { SAMPLER_UNPROVED, SAMPLER_GOOD, SAMPLER_BAD };

struct sampler_variable {
    bool virtual; /* the agent's own */
    int index;
    char *name, *description;
    const char *unit; /* NULL: none, or unknown */
    int var_class, datatype, bind;
    bool continuous, raw; /* raw: shown as it is by default */
    size_t size; /* of an element */
    unsigned objects;
    enum sampler_proof proof;
    char *enum_name;
    struct mpitx_run_enum_item *items;
    uint32_t item_count;
    bool enum_flags;
};

/* ---- what is read ---- */

struct sampler_object {
    uint64_t id; /* 0: none; 1: MPI_COMM_WORLD; 2: MPI_COMM_SELF; then one for each made */
    int bind;    /* enum mpitx_bind: COMM, WIN or NO_OBJECT */
    union mpi_handle handle;
    char zeros[MPITX_OBJECT_ZEROS]; /* Open MPI 6 reads past the handle */
    int size;       /* of its group; 0 unknown */
    bool inter;     /* an intercommunicator: elements are about the other group */
    int32_t *ranks; /* the processes that elements are about, in MPI_COMM_WORLD; NULL unknown */
    char name[128];
};

/* One variable for one object. */
struct sampler_reading {
    struct sampler_variable *variable;
    struct sampler_object *object;
    mpitx_handle handle;
    uint32_t count;
    char *target;      /* in a row */
    uint32_t row, position, columns; /* its first column: in which row, which of the row's; how many (in rows that follow) */
    int rc, code;      /* of the last read; as the library gave it */
    int virtual;       /* the agent's own variable; -1: the library's */
    bool dead;         /* is read no more */
};

/* A set of the run. */
struct sampler_row {
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
struct sampler_group {
    struct sampler_group *next, *previous;
    struct sampler_object objects[3];
    int object_count;
    struct sampler_reading *readings;
    uint32_t reading_count;
    struct sampler_row *rows;
    uint32_t row_count;
    bool declared, refused;
};

/* ---- the sampler ---- */

#define SAMPLER_STRIDE 4

enum sampler_state { SAMPLER_OFF, SAMPLER_ON, SAMPLER_DONE, SAMPLER_ENDED };

struct sampler {
    _Atomic int state;
    struct mpitx_run *run;
    const struct mpitx_table *table;
    bool mpi_t;              /* MPI_T is initialised */
    int t_level;             /* enum mpitx_thread, 0 without MPI_T */
    mpitx_handle session;

    struct sampler_pattern *patterns;
    int pattern_count;
    struct sampler_variable **variables;
    int variable_count;
    int library_count;       /* performance variables of the library seen so far */
    bool follow;             /* some variable wants objects made later */
    struct sampler_group *groups;
    uint64_t next_object;
    uint64_t refused_objects, skipped_objects;

    uint64_t interval_ns, interval; /* interval in ticks */
    uint64_t limit, end_ticks; /* samples, and when to stop; 0: none */
    uint64_t samples;
    _Atomic uint64_t next_due;
    uint64_t next_pair;      /* when the next pair of clocks is due */
    uint64_t next_align;     /* when to suit the thread's timers again */
    bool threaded;           /* the helper thread runs */
    bool own_only;           /* the sample that is taken is of the agent's own variables alone */
    uint64_t library_skipped; /* rows of the library's that such samples lack */
    bool compares;           /* the sample that is taken is compared with the one before, see sampler_quiet.c */
    uint32_t pace;           /* the thread looks at one of so many instants, see sampler_pace.c; */
    uint32_t stride;         /* while nothing moves, at one of SAMPLER_STRIDE times as many */
    int notes_told;
};

extern struct sampler sampler;

/* False when the lock could not be had in time, or is held by this very thread, which left a sample by longjmp: the sampler is
 * then switched off. */
bool sampler_lock(void);
bool sampler_try_lock(void);
void sampler_unlock(void);

/* Notes for the run; sampler_note is a text one. */
void sampler_note(int severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sampler_note_code(int severity, int code, const char *text);
void sampler_offer(const char *name); /* a name that may have been meant, for the run; NULL ends them */
void sampler_tell_notes(void); /* the agent's own so far, to the run */
void sampler_tell_functions(void);
/* Switches the sampler off, for good, with a note; the application goes on. With the lock held, or before start. */
void sampler_off(const char *why);
const char *sampler_rc_name(int rc); /* "MPI_T_ERR_INVALID_INDEX" */

/* sampler_select.c */
bool sampler_glob(const char *pattern, const char *name);
void sampler_read_patterns(void);
bool sampler_wants_library(void); /* some pattern may match the library's variables */
bool sampler_has_own(void);       /* some variable is the agent's own */
void sampler_select(void);        /* all there are now and have not been seen */
void sampler_note_unmatched(bool at_end);

/* sampler_probe.c */
void sampler_prove(const struct sampler_object *object); /* all unproved ones that can be bound to it, or to nothing */
bool sampler_probes(void); /* else variables are read that were not tried */
int sampler_probe_run(struct mpitx_probe *probe, const struct mpitx_probe_options *options, const struct mpitx_table *table);

/* sampler_group.c; under the lock */
struct sampler_group *sampler_group_first(void);
struct sampler_group *sampler_group_new(int bind, union mpi_handle handle, const char *how);
struct sampler_group *sampler_group_late(int first_variable); /* of variables without object that appeared since */
struct sampler_group *sampler_group_find(int bind, union mpi_handle handle);
void sampler_group_free(struct sampler_group *group); /* frees the handles, tells the run */
void sampler_group_unbind(struct sampler_group *group, const char *why); /* frees those that are bound to objects */
bool sampler_group_declare(struct sampler_group *group);
/* In samples from now on; with a reason also in the column's record. */
void sampler_reading_status(struct sampler_group *group, struct sampler_reading *reading, int status, const char *reason);

/* sampler_take.c; under the lock */
void sampler_take(uint64_t now);
void sampler_taken(uint64_t ticks); /* that one was taken */
void sampler_write(struct sampler_group *group, uint64_t ticks); /* the values that were read, as those of this time */
void sampler_take_last(struct sampler_group *group); /* its object is about to be freed */
void sampler_due(uint64_t now); /* takes one if one is due */
bool sampler_over(uint64_t now, uint64_t due); /* the duration has ended; counts what was due before and not taken */

/* sampler_read.c; under the lock */
void sampler_read_bind(void *library);
void sampler_read(struct sampler_group *group, uint64_t now);
bool sampler_leave_library(void); /* its variables are read no more; whether any was */

/* sampler_thread.c */
void sampler_thread_start(void);
void sampler_thread_arm(uint64_t now, uint64_t due, bool late); /* a sample was taken, late by the thread's measure or not */
uint64_t sampler_thread_grace(void); /* ticks after which a sample is late */
uint64_t sampler_thread_align(uint64_t due); /* the nearest time to be due at that suits the thread's timers */
void sampler_thread_stop(void);

void sampler_thread_alert(void); /* a call has come while the thread looked at some instants only */

/* sampler_quiet.c; under the lock, while sampler.compares */
uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed); /* takes one sample, and fills, as below */
uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed); /* instants from due on that went by; how many got a sample */
void sampler_quiet_end(void); /* from here on the thread looks at every instant; any time under the lock */

/* sampler_core.c: whether the job has more cores here than processes; and those to go to where this process may not use them. */
bool sampler_core_free(cpu_set_t *other);

/* sampler_set.c */
bool sampler_has_settings(void);
void sampler_apply_settings(void);

/* sampler_value.c */
struct sampler_cvar {
    int index;
    int datatype, scope, bind, count;
    size_t size;
    mpitx_handle enumtype;
};
/* false: no value of this variable, with the reason in why */
bool sampler_value_parse(const struct mpitx_table *t, const struct sampler_cvar *v, const char *text, char *out, char *why, size_t why_len);
void sampler_value_print(const struct mpitx_table *t, const struct sampler_cvar *v, const char *value, char *text, size_t len);
bool sampler_value_equal(const struct sampler_cvar *v, const char *a, const char *b);

/* What kind of object the variables of a bind are bound to; for those that have one. */
static inline enum call_object sampler_kind(int bind) { return bind == MPITX_BIND_MPI_WIN ? CALL_WIN : CALL_COMM; }

#endif
