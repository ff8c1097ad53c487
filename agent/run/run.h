/* run.h: writing a run directory from inside somebody else's program: samples, events, tables.
 *
 * One struct mpitx_run per process. Nothing here prints, exits, installs handlers, or waits for a disk (but for open and
 * close, and close not for longer than close_wait_ms); nothing allocates after open; errno is left as it was. Every
 * function takes NULL for "no run" and then does nothing, so that callers need not ask whether recording works.
 *
 * Threads: any thread may call any function at any time, but open, and close, which must be the last. A spin lock with a
 * bound guards samples and declarations (5 ns when free): a sample that does not get it within some 20 us is dropped and counted, a
 * declaration is refused with MPITX_RUN_BUSY. Events and rows are written without it. Not for signal handlers.
 *
 * A forked child inherits a run that is off: its calls do nothing (the switch lies on a page that the kernel wipes in
 * children; for kernels older than 4.14 call mpitx_run_abandon_in_child from a pthread_atfork handler, which is right in
 * any case). No descriptor stays open between calls: programs that close all descriptors do no harm.
 *
 * Records go to chunks in a memory-mapped file in /dev/shm, which a live reader sees and which is still there after
 * kill -9; a thread of ours (all signals blocked) appends full ones to the run directory. docs/run-format.md has the bytes. */
#ifndef MPITX_RUN_H
#define MPITX_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mpitx_run;

/* What functions return: 0 or an identifier on success, and one of these, all negative. */
enum mpitx_run_error {
    MPITX_RUN_OFF = -1,     /* no run, closed, or a forked child */
    MPITX_RUN_BUSY = -2,    /* another thread held the lock too long */
    MPITX_RUN_FULL = -3,    /* no chunk is free, or the budget is used up: counted */
    MPITX_RUN_INVALID = -4, /* an argument: unknown column or set, a record that fits no chunk, a table that is full */
};

/* What a sample says of one column. */
enum mpitx_run_status {
    MPITX_RUN_OK = 0,
    MPITX_RUN_RESET = 1,   /* fell back in a way that cannot be a wrap; the value is the new one */
    MPITX_RUN_ERROR = 2,   /* the library returned an error; no value */
    MPITX_RUN_GONE = 3,    /* the variable became invalid, or its object was freed; no value */
    MPITX_RUN_FAULTY = 4,  /* crashed or hung when it was tried, hence not read; no value */
    MPITX_RUN_UNBOUND = 5, /* there is no object to bind it to; no value */
    MPITX_RUN_PENDING = 6, /* not started yet; no value */
    MPITX_RUN_AT_MOST = 7, /* the value is an upper bound: the true one cannot be known */
};

/* How a column is to be shown where the user does not say: DEFAULT follows the variable's class. */
enum mpitx_run_as { MPITX_RUN_AS_DEFAULT = 0, MPITX_RUN_AS_RAW = 1, MPITX_RUN_AS_DELTA = 2, MPITX_RUN_AS_RATE = 3 };

/* What the elements of an array are. */
enum mpitx_run_labels {
    MPITX_RUN_LABEL_INDEX = 0,      /* nothing better than their index */
    MPITX_RUN_LABEL_PEER = 1,       /* element i is about the process that has rank i in the object's group */
    MPITX_RUN_LABEL_WORLD_LIST = 2, /* labels[i] is the rank in MPI_COMM_WORLD that element i is about */
};

enum mpitx_run_policy {
    MPITX_RUN_STOP = 0,      /* the budget reached, samples are counted and dropped */
    MPITX_RUN_KEEP_LAST = 1, /* the oldest samples make room */
};

enum mpitx_run_clock { MPITX_RUN_CLOCK_MONOTONIC = 1, MPITX_RUN_CLOCK_TSC = 2 };

enum mpitx_run_severity { MPITX_RUN_INFO = 1, MPITX_RUN_WARNING = 2, MPITX_RUN_SEVERE = 3 };

/* What a note is about, for programs. */
enum mpitx_run_note {
    MPITX_RUN_NOTE_TEXT = 0,
    MPITX_RUN_NOTE_SWITCHED_OFF = 1, /* a part of the agent, or all of it, gave up */
    MPITX_RUN_NOTE_UNMATCHED = 2,    /* text is a pattern of --pvar that matched nothing on this rank */
    MPITX_RUN_NOTE_FAULTY = 3,       /* text is a variable that is not sampled since it crashed or hung */
    MPITX_RUN_NOTE_BUDGET = 4,       /* the writer's own: max_size is used up */
    MPITX_RUN_NOTE_OFFERED = 5,      /* text are names that there are, one a line, where one that was asked for is not */
    MPITX_RUN_NOTE_SPAWNED = 6,      /* text is how many processes this one has started by MPI_Comm_spawn; they are not sampled */
    MPITX_RUN_NOTE_LESS = 7,         /* why less is sampled than was asked for */
};

enum mpitx_run_end {
    MPITX_RUN_END_FINALIZE = 1, /* MPI_Finalize, or the last session's end */
    MPITX_RUN_END_EXIT = 2,     /* the process ended without */
    MPITX_RUN_END_ABORT = 3,    /* MPI_Abort */
    MPITX_RUN_END_OFF = 4,      /* the agent switched itself off */
};

struct mpitx_run_options {
    const char *dir;      /* the run directory, absolute; made with mode 0700 (not its parents). Never a symbolic link. */
    const char *live_dir; /* for the live chunks; NULL: /dev/shm, else $TMPDIR, /tmp, dir */
    uint8_t run_id[16];   /* the same on all ranks; zeros where nobody gave one */
    uint32_t chunk_bytes; /* 64 to 512 KiB; 0: 64 KiB */
    uint32_t chunks;      /* 3 to 64; 0: 6 */
    uint64_t max_size;    /* bytes for the whole job, of which this rank has 1/size; 0: no bound */
    int policy;           /* enum mpitx_run_policy */
    uint32_t max_columns; /* 0: 4096 */
    uint32_t max_sets;    /* 0: 1024; at most 32000 */
    uint32_t max_threads; /* that write events at the same time; 0: 1024 */
    uint64_t pool_bytes;  /* the most memory for events and tables; 0: 32 MiB */
    int no_thread;        /* 1: full chunks are appended by the call that fills them, which then waits for the disk */
    uint32_t close_wait_ms; /* 0: 10000 */
    bool claims;            /* nothing is opened where another process of this rank has been recorded */

    /* the header; strings may be NULL */
    int32_t rank, size; /* -1, 0 where MPI was never reached */
    const char *host;
    const char *family;   /* "openmpi", "mpich" … as struct mpitx_table has it */
    const char *library;  /* MPI_Get_library_version */
    const char *program;  /* what runs */
    const char *agent;    /* our version */
    int32_t mpi_version, mpi_subversion;
    int32_t thread_level;    /* granted to the program: enum mpitx_thread */
    int32_t t_thread_level;  /* granted by MPI_T: enum mpitx_thread, 0 where not initialized */
    uint64_t interval_ns;    /* between samples */
    int64_t job_start_ns;    /* CLOCK_REALTIME at which the front started the job; 0: unknown */

    /* the clock of all times given to this run: "ticks" */
    int32_t clock;         /* enum mpitx_run_clock */
    uint64_t (*ticks)(void); /* NULL: CLOCK_MONOTONIC in nanoseconds, and ns_per_tick 1 */
    double ns_per_tick;    /* as calibrated */
    double clock_error_ns; /* bound of a time's error against CLOCK_MONOTONIC */
};

struct mpitx_run_enum_item {
    int64_t value;
    const char *name;
};

/* What is sampled: one variable for one object. An array with more elements than fit one record is declared as several
 * columns that differ in `first`. */
struct mpitx_run_column {
    const char *variable;
    int32_t var_class; /* enum mpitx_pvar_class; unknown ones as they are */
    int32_t datatype;  /* enum mpitx_datatype */
    uint32_t count;    /* elements, >= 1 */
    uint32_t first;    /* the index of the first of them */
    int32_t bind;      /* enum mpitx_bind */
    uint64_t object;   /* identifies the object among those of this process; 0: none */
    const char *object_name; /* "MPI_COMM_WORLD", the application's name of it, NULL for no object */
    uint8_t as;              /* enum mpitx_run_as */
    uint8_t labels;          /* enum mpitx_run_labels */
    uint8_t enum_flags;      /* 1: values are ORs of items */
    const int32_t *label;    /* count of them, for MPITX_RUN_LABEL_WORLD_LIST */
    const char *enum_name;   /* NULL: no enumeration */
    const struct mpitx_run_enum_item *items;
    uint32_t item_count;
    const char *description;
    const char *unit;        /* "ns", "s", "B"; NULL: a number, or unknown */
    uint32_t element_bytes;  /* only for datatypes that are in no table: 1, 2, 4 or 8; else 0 */
};

/* Opens a run; NULL where that fails, with the reason in why ("no space in /dev/shm …"). May take milliseconds. */
struct mpitx_run *mpitx_run_open(const struct mpitx_run_options *options, char *why, size_t why_len);

/* Declares a column; returns its identifier, from 0. */
int mpitx_run_declare_column(struct mpitx_run *run, const struct mpitx_run_column *column);

/* Declares a set of columns that are always sampled at one instant; returns its identifier, from 0. A row of the set holds
 * the columns' values in this order, each at the next multiple of its element's size; offsets (NULL, or one for each
 * column) receives where, row_bytes (or NULL) the length of a row, a multiple of 8. */
int mpitx_run_declare_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets, uint32_t *row_bytes);

/* Records one instant of a set: row as declare_set laid it out; statuses one byte for each column (enum mpitx_run_status), or
 * NULL where all are OK. Values of columns without one are ignored. A time before the last one is taken as the last one.
 * 0, or an error that is counted as a lost sample. */
int mpitx_run_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses);

/* A column's status from now on, with the reason ("MPI_T_pvar_read: MPI_T_ERR_INVALID_HANDLE"); once, not for each sample. */
int mpitx_run_column_status(struct mpitx_run *run, uint32_t column, int status, const char *reason);

/* The application named an object (MPI_Comm_set_name) after a column with it was declared. */
int mpitx_run_object_name(struct mpitx_run *run, uint64_t object, const char *name);

int mpitx_run_note(struct mpitx_run *run, int severity, int code, const char *text);

/* What came of --set or --set-after (after: 1): result is "ok", "ok but unchanged", "not now", "never" … */
int mpitx_run_outcome(struct mpitx_run *run, int after, const char *cvar, const char *asked, const char *old_value,
                      const char *read_back, const char *result);

/* What came of each function, once, at the end. */
struct mpitx_run_function {
    const char *name;
    uint64_t calls, time_ns;
};
int mpitx_run_functions(struct mpitx_run *run, const struct mpitx_run_function *functions, uint32_t count);

/* -- events and tables: recording/testdata/events.c shows all of it -- */

enum mpitx_run_type {
    MPITX_RUN_U8 = 1, MPITX_RUN_U16, MPITX_RUN_U32, MPITX_RUN_U64,
    MPITX_RUN_I8, MPITX_RUN_I16, MPITX_RUN_I32, MPITX_RUN_I64,
    MPITX_RUN_F32, MPITX_RUN_F64,
};

enum mpitx_run_meaning {
    MPITX_RUN_NUMBER = 0,
    MPITX_RUN_TEXT = 1,    /* what mpitx_run_declare_text returned */
    MPITX_RUN_ADDRESS = 2, /* of code: see mpitx_run_modules */
    MPITX_RUN_TIME = 3,    /* ticks of the run's clock */
};

/* How a reader makes one value of those of several rows with the same key. */
enum mpitx_run_merge { MPITX_RUN_SUM = 0, MPITX_RUN_MIN = 1, MPITX_RUN_MAX = 2 };

struct mpitx_run_field {
    const char *name;
    uint8_t type;     /* enum mpitx_run_type */
    uint8_t meaning;  /* enum mpitx_run_meaning */
    uint8_t merge;    /* enum mpitx_run_merge; of tables, for fields that are not keys */
    uint32_t count;   /* elements, for histograms; 0: 1 */
    const char *unit; /* "ns", "B"; NULL: a number */
};

/* A text that fields of events and rows refer to by what this returns, from 0. */
int mpitx_run_declare_text(struct mpitx_run *run, const char *text);

/* Declares a type of events; returns its identifier, from 0. Its fields lie as those of a C struct do that has nothing wider than 8 bytes,
 * padded to 8: bytes (or NULL) receives that length, for a comparison with sizeof. */
int mpitx_run_declare_event(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields, uint32_t count, uint32_t *bytes);

/* The calling thread's own stream of events, from 0; end gives it to the next thread that begins. Where there is none left, events are
 * counted as lost. */
int mpitx_run_thread_begin(struct mpitx_run *run);
void mpitx_run_thread_end(struct mpitx_run *run, int thread);

/* Records an event of a thread, only in that thread. A time before the thread's last one is taken as that. 0, or an error that is
 * counted as a lost event: the reader sees where events of this thread are missing. */
int mpitx_run_event(struct mpitx_run *run, int thread, int type, uint64_t ticks, const void *fields);

/* Declares a table; returns its identifier, from 0. A row is a struct mpitx_run_row and the fields, as in a C struct. The first `keys`
 * fields say what a row is about; rows with the same ones, of several threads, are one to readers. */
struct mpitx_run_row {
    uint32_t sequence; /* 0: not there yet; odd: it is being changed */
    uint32_t thread;   /* of the operating system, that made it */
};
int mpitx_run_declare_table(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields, uint32_t count, uint32_t keys,
                            uint32_t *bytes);

/* A new row that begins with these values, struct mpitx_run_row included; NULL if there is no room, which is counted. It is good until the
 * run is closed, and for one thread at a time. */
struct mpitx_run_row *mpitx_run_row(struct mpitx_run *run, int table, const void *values);

/* A change of a row's values is between these two. False: the run is off, and the row must not be touched. */
static inline bool mpitx_run_row_begin(struct mpitx_run *run, struct mpitx_run_row *row)
{
    if (!run || !row || !__atomic_load_n(*(int *const *)(const void *)run, __ATOMIC_RELAXED)) /* its first member */
        return false;
    __atomic_store_n(&row->sequence, row->sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    return true;
}

static inline void mpitx_run_row_end(struct mpitx_run_row *row)
{
    uint32_t next = row->sequence + 1;
    __atomic_store_n(&row->sequence, next ? next : 2, __ATOMIC_RELEASE);
}

/* Writes which programs and libraries are mapped where; those that it has not written yet. The run does so itself when a field with
 * addresses is declared and, for libraries that are loaded later, at its end. It takes the loader's lock. */
int mpitx_run_modules(struct mpitx_run *run);

/* Counters, cheap, kept in the live file and hence there after kill -9. */
void mpitx_run_missed(struct mpitx_run *run, uint64_t samples);           /* due, but not taken */
void mpitx_run_cost(struct mpitx_run *run, uint64_t instants, uint64_t ns); /* taken, and the time that took */

/* A pair of clocks for the reader to align by; open and close take one each, and a long run needs one now and then
 * where ticks are a TSC's: every ten seconds is plenty. */
int mpitx_run_clock_pair(struct mpitx_run *run);

/* Sends the declarations so far to the run directory, where readers on other machines see them. */
void mpitx_run_flush(struct mpitx_run *run);

/* Where this process's live chunks are, for messages. */
const char *mpitx_run_live_path(const struct mpitx_run *run);

/* Ends the run: everything is appended to the run directory, and the live file removed. Where the directory takes no more,
 * or not within close_wait_ms, what is left stays in the live file, where readers find it. NULL-safe, idempotent
 * by setting *run to NULL. tidy: memory is given back and the thread joined; not where other threads may still be in calls of
 * this run, nor where a thread that crashed may hold the allocator's locks. */
void mpitx_run_close(struct mpitx_run **run, int end, bool tidy);

/* In a forked child: forgets the run without touching its files. Async-signal-safe. */
void mpitx_run_abandon_in_child(struct mpitx_run **run);

#ifdef __cplusplus
}
#endif
#endif
