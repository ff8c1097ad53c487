/* run.h: writes a run directory from inside an application: samples, events, tables.
 *
 * A process has one struct mpitx_run. Nothing here prints, exits or installs handlers. Only open and close wait for a
 * disk, close at most close_wait_ms. Nothing allocates after open. errno is preserved. Every function accepts NULL for
 * "no run" and then does nothing, so callers need not check whether recording works.
 *
 * Threads: any thread may call any function at any time, except open and close; close must be the last call. A bounded
 * spin lock guards samples and declarations (5 ns when free). A sample that does not get it within about 20 us is
 * dropped and counted; a declaration is refused with MPITX_RUN_BUSY. Events and rows are written without it. Not for
 * signal handlers.
 *
 * A forked child inherits a run that is off, and its calls do nothing. The switch is on a page that the kernel wipes in
 * children; for kernels before 4.14, call mpitx_run_abandon_in_child from a pthread_atfork handler, which is always
 * correct. No descriptor stays open between calls, so programs that close all descriptors do no harm.
 *
 * Records go to chunks in a memory-mapped file in /dev/shm, which live readers see and which survives kill -9. A thread
 * with all signals blocked appends full chunks to the run directory. docs/run-format.md describes the bytes. */
#ifndef MPITX_RUN_H
#define MPITX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpitx_run;

/* Functions return 0 or an identifier on success, and one of these on failure. */
enum mpitx_run_error {
    MPITX_RUN_OFF = -1,     /* no run, closed, or a forked child */
    MPITX_RUN_BUSY = -2,    /* another thread held the lock too long */
    MPITX_RUN_FULL = -3,    /* no chunk is free, or the budget is used up; counted */
    MPITX_RUN_INVALID = -4, /* invalid argument: unknown column or set, a record larger than a chunk, a full table */
};

/* The status of one column in a sample. */
enum mpitx_run_status {
    MPITX_RUN_OK = 0,
    MPITX_RUN_RESET = 1,   /* fell in a way that cannot be a wrap; the value is the new one */
    MPITX_RUN_ERROR = 2,   /* the library returned an error; no value */
    MPITX_RUN_GONE = 3,    /* the variable became invalid, or its object was freed; no value */
    MPITX_RUN_FAULTY = 4,  /* not read, as it crashed or hung when tried; no value */
    MPITX_RUN_UNBOUND = 5, /* there is no object to bind it to; no value */
    MPITX_RUN_PENDING = 6, /* not started yet; no value */
    MPITX_RUN_AT_MOST = 7, /* the value is an upper bound; the exact one cannot be known */
};

/* How a column is shown by default. DEFAULT follows the variable's class. */
enum mpitx_run_as { MPITX_RUN_AS_DEFAULT = 0, MPITX_RUN_AS_RAW = 1, MPITX_RUN_AS_DELTA = 2, MPITX_RUN_AS_RATE = 3 };

/* What the elements of an array stand for. */
enum mpitx_run_labels {
    MPITX_RUN_LABEL_INDEX = 0,      /* only the index */
    MPITX_RUN_LABEL_PEER = 1,       /* element i counts rank i of the object's group */
    MPITX_RUN_LABEL_WORLD_LIST = 2, /* element i counts rank labels[i] of MPI_COMM_WORLD */
};

enum mpitx_run_policy {
    MPITX_RUN_STOP = 0,      /* at the budget, samples are counted and dropped */
    MPITX_RUN_KEEP_LAST = 1, /* at the budget, new samples overwrite the oldest */
};

enum mpitx_run_clock { MPITX_RUN_CLOCK_MONOTONIC = 1, MPITX_RUN_CLOCK_TSC = 2 };

enum mpitx_run_severity { MPITX_RUN_INFO = 1, MPITX_RUN_WARNING = 2, MPITX_RUN_SEVERE = 3 };

/* The subject of a note, for programs. */
enum mpitx_run_note {
    MPITX_RUN_NOTE_TEXT = 0,
    MPITX_RUN_NOTE_SWITCHED_OFF = 1, /* a part of the agent, or all of it, switched itself off */
    MPITX_RUN_NOTE_UNMATCHED = 2,    /* text is a pattern of --pvar that matched nothing on this rank */
    MPITX_RUN_NOTE_FAULTY = 3,       /* text is a variable that is not sampled because it crashed or hung */
    MPITX_RUN_NOTE_BUDGET = 4,       /* from the writer: max_size is used up */
    MPITX_RUN_NOTE_SUGGESTIONS = 5,      /* text is the names that exist, one a line, for one that does not */
    MPITX_RUN_NOTE_SPAWNED = 6,      /* text is the number of processes started by MPI_Comm_spawn without the agent */
    MPITX_RUN_NOTE_REDUCED = 7,         /* why less is sampled than was asked for */
    MPITX_RUN_NOTE_UNMATCHED_EVENT = 8, /* text is a pattern of --event that matched nothing on this rank */
    MPITX_RUN_NOTE_PART = 9,            /* the trace is of a part of the run */
    MPITX_RUN_NOTE_ALGORITHMS = 10,     /* why the algorithms of collective calls are not known */
    MPITX_RUN_NOTE_FUNCTIONS = 11,      /* the trace has the calls of some functions only */
};

enum mpitx_run_end {
    MPITX_RUN_END_FINALIZE = 1, /* MPI_Finalize, or the last session's end */
    MPITX_RUN_END_EXIT = 2,     /* the process exited without MPI_Finalize */
    MPITX_RUN_END_ABORT = 3,    /* MPI_Abort */
    MPITX_RUN_END_OFF = 4,      /* the agent switched itself off */
};

struct mpitx_run_options {
    /* the run directory, absolute; created with mode 0700 (its parents must exist); never a symbolic link */
    const char *dir;
    const char *live_dir; /* for the live chunks; NULL: the first of /dev/shm, $TMPDIR, /tmp, dir that works */
    uint8_t run_id[16];   /* the same on all ranks; zeros if there is none */
    uint32_t chunk_bytes; /* 64 to 512 KiB; 0: 64 KiB */
    uint32_t chunks;      /* 3 to 64; 0: 6 */
    uint64_t max_size;    /* bytes for the whole job, 1/size of it for this rank; 0: no limit */
    int policy;           /* enum mpitx_run_policy */
    uint32_t max_columns; /* 0: 4096 */
    uint32_t max_sets;    /* 0: 1024; at most 32000 */
    uint32_t max_threads; /* threads that write events at the same time; 0: 1024 */
    uint64_t pool_bytes;  /* limit of memory for events and tables; 0: 32 MiB */
    int no_thread;        /* 1: the call that fills a chunk appends it, and waits for the disk */
    uint32_t close_wait_ms; /* 0: 10000 */
    bool claims;            /* fail if another process of this rank is recorded */
    struct mpitx_run_spawned {
        int32_t first;   /* the number of MPI_COMM_WORLD's rank 0 in the run; 0: the process was not spawned */
        int32_t spawner; /* the root of MPI_Comm_spawn, and which of its jobs this is, from 1 */
        int32_t job;
    } spawned;

    /* the header; strings may be NULL */
    int32_t rank, size; /* -1, 0 if MPI was never reached; the rank counts from spawned.first */
    const char *host;
    const char *family;   /* "openmpi", "mpich" … as in struct mpitx_table */
    const char *library;  /* MPI_Get_library_version */
    const char *program;  /* path or name */
    const char *agent;    /* the agent's version */
    int32_t mpi_version, mpi_subversion;
    int32_t thread_level;    /* provided to the program: enum mpitx_thread */
    int32_t t_thread_level;  /* provided by MPI_T: enum mpitx_thread; 0 if not initialized */
    uint64_t interval_ns;    /* between samples */
    int64_t job_start_ns;    /* CLOCK_REALTIME when the front started the job; 0: unknown */

    /* the clock of all times passed to this run, in ticks */
    int32_t clock;         /* enum mpitx_run_clock */
    uint64_t (*ticks)(void); /* NULL: CLOCK_MONOTONIC in nanoseconds, with ns_per_tick 1 */
    double ns_per_tick;    /* as calibrated */
    double clock_error_ns; /* bound of a time's error against CLOCK_MONOTONIC */
    struct mpitx_run_skew { /* for tests: how wrong the clocks of this node are */
        int64_t ahead_ns; /* when the job started */
        double rate;      /* what they gain since then */
    } skew;
};

struct mpitx_run_enum_item {
    int64_t value;
    const char *name;
};

/* A column: one variable bound to one object. An array that does not fit one record is several columns with different
 * `first`. */
struct mpitx_run_column {
    const char *variable;
    int32_t var_class; /* enum mpitx_pvar_class; unknown ones unchanged */
    int32_t datatype;  /* enum mpitx_datatype */
    uint32_t count;    /* number of elements, >= 1 */
    uint32_t first;    /* array index of the first one */
    int32_t bind;      /* enum mpitx_bind */
    uint64_t object;   /* the object's number in this process; 0: none */
    const char *object_name; /* "MPI_COMM_WORLD" or the application's name; NULL: no object */
    uint8_t as;              /* enum mpitx_run_as */
    uint8_t labels;          /* enum mpitx_run_labels */
    uint8_t enum_flags;      /* 1: values are ORs of items */
    const int32_t *label;    /* count labels, for MPITX_RUN_LABEL_WORLD_LIST */
    const char *enum_name;   /* NULL: no enumeration */
    const struct mpitx_run_enum_item *items;
    uint32_t item_count;
    const char *description;
    const char *unit;        /* "ns", "s", "B"; NULL: a number, or unknown */
    uint32_t element_bytes;  /* only for unknown datatypes: 1, 2, 4 or 8; else 0 */
};

/* Opens a run. Returns NULL on failure, with the reason in why ("no space in /dev/shm …"). May take milliseconds. */
struct mpitx_run *mpitx_run_open(const struct mpitx_run_options *options, char *why, size_t why_len);

/* Reserves numbers for processes that will be spawned. Returns the first one, at least `least`; -1: it cannot write. */
int32_t mpitx_run_reserve(const char *dir, int32_t least, int32_t count);

/* Whether some processes of a job do something together; all processes get the same answer. size: how many they are;
 * place: where this one is. firsts: the lowest rank of each place, for up to MPITX_RUN_PLACES of them, in order; valid
 * until the next call. Waits up to 10 s for others, and 20 s for rank 0. */
enum { MPITX_RUN_PLACES = 4096 };
enum mpitx_run_meeting {
    MPITX_RUN_MEET_NOT = 1,       /* not all have come */
    MPITX_RUN_MEET_ONE_PLACE = 2, /* all have come, from one place */
    MPITX_RUN_MEET = 3,
};
enum mpitx_run_meeting mpitx_run_meet(const char *dir, int32_t rank, int32_t size, uint64_t place,
                                      const int32_t **firsts, int *count);

/* Declares a column and returns its identifier, from 0. */
int mpitx_run_declare_column(struct mpitx_run *run, const struct mpitx_run_column *column);

/* Declares a set of columns that are always sampled at one instant and returns its identifier, from 0. A row of the set
 * has the columns' values in this order, each aligned to its element's size. offsets (NULL, or one for each column)
 * receives their offsets, row_bytes (or NULL) the length of a row, a multiple of 8. */
int mpitx_run_declare_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets,
                          uint32_t *row_bytes);

/* Records one instant of a set. row has the layout of declare_set; statuses has one byte for each column (enum
 * mpitx_run_status), or is NULL if all are OK. Values of columns whose status has no value are ignored. A time before
 * the last one counts as the last one. Returns 0 or an error, which is counted as a lost sample. */
int mpitx_run_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses);

/* Sets a column's status from now on, with the reason ("MPI_T_pvar_read: MPI_T_ERR_INVALID_HANDLE"); called once. */
int mpitx_run_column_status(struct mpitx_run *run, uint32_t column, int status, const char *reason);

/* Sets the name that the application gave an object (MPI_Comm_set_name) after a column of it was declared. */
int mpitx_run_object_name(struct mpitx_run *run, uint64_t object, const char *name);

int mpitx_run_note(struct mpitx_run *run, int severity, int code, const char *text);

/* Records the result of --set or --set-after (after: 1): "ok", "ok but unchanged", "not now", "never" … */
int mpitx_run_outcome(struct mpitx_run *run, int after, const char *cvar, const char *asked, const char *old_value,
                      const char *read_back, const char *result);

/* Records the totals of functions, once, at the end. */
struct mpitx_run_function {
    const char *name;
    uint64_t calls, time_ns;
};
int mpitx_run_functions(struct mpitx_run *run, const struct mpitx_run_function *functions, uint32_t count);

/* ---- events and tables: example: recording/testdata/events.c ---- */

enum mpitx_run_type {
    MPITX_RUN_U8 = 1, MPITX_RUN_U16, MPITX_RUN_U32, MPITX_RUN_U64,
    MPITX_RUN_I8, MPITX_RUN_I16, MPITX_RUN_I32, MPITX_RUN_I64,
    MPITX_RUN_F32, MPITX_RUN_F64,
};

enum mpitx_run_meaning {
    MPITX_RUN_NUMBER = 0,
    MPITX_RUN_TEXT = 1,    /* an identifier from mpitx_run_declare_text */
    MPITX_RUN_ADDRESS = 2, /* of code, see mpitx_run_modules */
    MPITX_RUN_TIME = 3,    /* ticks of the run's clock */
};

/* How a reader combines values of rows with the same key. */
enum mpitx_run_merge { MPITX_RUN_SUM = 0, MPITX_RUN_MIN = 1, MPITX_RUN_MAX = 2 };

struct mpitx_run_field {
    const char *name;
    uint8_t type;     /* enum mpitx_run_type */
    uint8_t meaning;  /* enum mpitx_run_meaning */
    uint8_t merge;    /* enum mpitx_run_merge; in tables, for fields that are not keys */
    uint32_t count;   /* number of elements, for histograms; 0: 1 */
    const char *unit; /* "ns", "B"; NULL: a number */
};

/* Declares a text to which fields refer by the returned identifier, from 0. */
int mpitx_run_declare_text(struct mpitx_run *run, const char *text);

/* Declares an event type and returns its identifier, from 0. The fields have the layout of a C struct without members
 * wider than 8 bytes, padded to 8. bytes (or NULL) receives that length, for comparison with sizeof. */
int mpitx_run_declare_event(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields,
                            uint32_t count, uint32_t *bytes);

/* Returns a stream of events for the calling thread, from 0. end releases it for another thread. If none is left,
 * events are counted as lost. */
int mpitx_run_thread_begin(struct mpitx_run *run);
void mpitx_run_thread_end(struct mpitx_run *run, int thread);

/* For callbacks inside of the library: until the stream is released, its events are lost rather than waited for. */
void mpitx_run_thread_never_waits(struct mpitx_run *run, int thread);

/* Records an event of a thread; called only in that thread. A time before the thread's last one counts as that one.
 * Returns 0 or an error, which is counted as a lost event; readers see where events of this thread are missing. */
int mpitx_run_event(struct mpitx_run *run, int thread, int type, uint64_t ticks, const void *fields);

/* The number of the chunk that holds the thread's last event; 0: none. An event may refer to earlier ones of its chunk,
 * as chunks are kept or lost as a whole. */
uint32_t mpitx_run_chunk(const struct mpitx_run *run, int thread);

/* The same as mpitx_run_event, but returns MPITX_RUN_FULL, without counting a loss, if it does not fit into this
 * chunk. */
int mpitx_run_event_in(struct mpitx_run *run, int thread, int type, uint64_t ticks, const void *fields, uint32_t chunk);

/* Declares a table and returns its identifier, from 0. A row is a struct mpitx_run_row followed by the fields, as in a
 * C struct. The first `keys` fields identify a row; readers merge rows of several threads with the same key. */
struct mpitx_run_row {
    uint32_t sequence; /* 0: not complete; odd: being changed */
    uint32_t thread;   /* the operating system's ID of the thread that made it */
};
int mpitx_run_declare_table(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields,
                            uint32_t count, uint32_t keys, uint32_t *bytes);

/* Adds a row with these initial values, which include struct mpitx_run_row. Returns NULL if there is no room, and
 * counts that. The row is valid until the run is closed, for one thread at a time. */
struct mpitx_run_row *mpitx_run_row(struct mpitx_run *run, int table, const void *values);

/* Changes of a row's values go between these two. If begin returns false, the run is off: leave the row alone. */
static inline bool mpitx_run_row_begin(struct mpitx_run *run, struct mpitx_run_row *row)
{
    if (!run || !row || !__atomic_load_n(*(int *const *)(const void *)run, __ATOMIC_RELAXED)) /* its first member */
        return false;
    __atomic_store_n(&row->sequence, row->sequence | 1, __ATOMIC_RELAXED); /* odd already: left by longjmp */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return true;
}

static inline void mpitx_run_row_end(struct mpitx_run_row *row)
{
    uint32_t next = row->sequence + 1;
    __atomic_store_n(&row->sequence, next ? next : 2, __ATOMIC_RELEASE);
}

/* Writes the mapped programs and libraries that are not written yet. The run does so itself when a field with addresses
 * is declared, when a row with addresses is added, and at its end. Takes the loader's lock. */
int mpitx_run_modules(struct mpitx_run *run);

/* The same, if libraries were loaded or unloaded since: before an event with addresses, as libraries may be gone
 * later. */
void mpitx_run_follow_modules(struct mpitx_run *run);

/* The build ID that the linker wrote into a loaded object with --build-id; 0 bytes: none. */
struct dl_phdr_info;
const void *mpitx_run_build_id(const struct dl_phdr_info *info, uint32_t *bytes);

/* Counters: cheap, and kept in the live file, so that they survive kill -9. */
void mpitx_run_missed(struct mpitx_run *run, uint64_t samples);           /* due but not taken */
void mpitx_run_cost(struct mpitx_run *run, uint64_t instants, uint64_t ns); /* instants sampled, and the time taken */

/* Records a clock pair for the reader's alignment. open and close record one each. A long run with TSC ticks needs
 * more; one every ten seconds is enough. */
int mpitx_run_clock_pair(struct mpitx_run *run);

/* Sends the declarations so far to the run directory, for readers on other machines. */
void mpitx_run_flush(struct mpitx_run *run);

/* Waits at most close_wait_ms until declarations and notes have room, if chunks are being written: before the end. */
void mpitx_run_await_room(struct mpitx_run *run);

/* Returns the path of this process's live chunks, for messages. */
const char *mpitx_run_live_path(const struct mpitx_run *run);

/* Ends the run: appends everything to the run directory and removes the live file. Chunks that cannot be appended
 * within close_wait_ms stay in the live file, where readers find them. Sets *run to NULL; does nothing if it is NULL.
 * tidy also releases the memory and joins the thread; not allowed while other threads may be in calls of this run, or
 * if a thread that crashed may hold the allocator's locks. */
void mpitx_run_close(struct mpitx_run **run, int end, bool tidy);

/* Forgets the run in a forked child without touching its files. Async-signal-safe. */
void mpitx_run_abandon_in_child(struct mpitx_run **run);

#ifdef __cplusplus
}
#endif
#endif
