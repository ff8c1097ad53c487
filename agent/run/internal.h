/* internal.h: shared by the parts of a run. Each file needs only those below it.
 *
 *     run.c      opening, ending, counters
 *     store.c    creates and unmaps the files: run directory, live file, manifest
 *     sample.c, event.c, table.c, module.c    samples, events (and fields), tables, mapped programs and libraries
 *     declare.c  columns and sets
 *     record.c   chunks that are filled under the lock; records of declarations, notes, clocks
 *     flush.c    writes sealed chunks to the run directory
 *     last.c     last values, for when samples are dropped
 *     pool.c     further live files, with the chunks of events and tables
 *     chunk.c    a chunk: its beginning in a slot, and its way to the run directory
 *     claim.c    chooses the recorded process of each rank
 *     meet.c     lets the processes of the job agree
 *     file.c     the system: signals, opening, writing and mapping files, times
 *     crc.c      checksums of chunks */
#ifndef MPITX_RUN_INTERNAL_H
#define MPITX_RUN_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sched.h>
#include <unistd.h>
#include <sys/syscall.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/cancel.h"
#include "base/lack.h"
#include "run/format.h"
#include "run/run.h"

#define RUN_META_RESERVE 512 /* bytes of every meta chunk reserved for the records that end a run */

struct run_set {
    uint32_t row_bytes, columns;
    bool baseline; /* its first sample is also in a meta chunk */
    bool dropped;  /* its newest sample was dropped */
    uint8_t turn;  /* the newer of its two records for last values */
    uint8_t *last; /* the first of them; NULL: no space */
};

struct run_column_info {
    uint32_t bytes; /* of all elements */
    uint32_t element_bytes;
};

/* A chunk being filled. */
struct run_cursor {
    struct run_chunk *chunk; /* NULL: none */
    uint32_t used, room;     /* room: the limit of used */
    uint32_t records;
};

#define RUN_MAX_LASTS 64

/* A chunk of last values, after the live file's slots. */
struct run_lasts {
    void *map;
    size_t map_bytes;
    struct run_chunk *chunk;
};

/* The chunks of events and tables are slots of further live files, each mapped once. */
#define RUN_MAX_FILES 24
struct run_pool {
    struct run_live *file[RUN_MAX_FILES];
    _Atomic uint32_t files;
    _Atomic uint32_t free; /* number of free slots, to avoid searches without success */
    uint32_t slots;
    uint64_t max_bytes;
    atomic_bool growing;
    atomic_bool slow;            /* a thread has waited long for another to grow it */
    atomic_bool failed, full[2]; /* failed to grow; at its maximum for events, for tables */
};

/* A thread's stream of events. */
struct run_thread {
    _Alignas(64) struct run_chunk *chunk; /* NULL: none */
    uint32_t used, room, records;
    uint32_t tid;
    uint32_t chunks; /* so far */
    bool announce;   /* write tid before the next event */
    bool never_waits;  /* see mpitx_run_thread_never_waits */
    atomic_bool taken;
    uint64_t base_ticks, last_ticks, lost, lost_ticks; /* lost_ticks: of the last one lost */
};
_Static_assert(sizeof(struct run_thread) == 64, "a cache line");

#define RUN_MAX_EVENTS 4096u
#define RUN_MAX_TABLES 64u
#define RUN_MAX_PARTS 512u

struct run_table {
    uint32_t used, row_bytes, fit; /* bytes of a row with data, bytes of a row, rows in a chunk */
    _Atomic uint32_t next, parts;
    bool addresses; /* its rows have addresses of code */
    struct run_chunk *part[RUN_MAX_PARTS];
};

#define RUN_MAX_MODULES 4096

struct mpitx_run {
    atomic_int *alive; /* on a page that is zero in forked children; the first field, for mpitx_run_row_begin */
    atomic_flag lock;
    bool signals_blocked, lock_stuck; /* see run_try_lock_long */
    uint64_t signals;
    struct run_live *live;
    struct run_cursor meta, samples;
    uint64_t base_ticks, last_ticks;
    uint64_t (*ticks)(void);
    double ns_per_tick;
    int clock;
    struct mpitx_run_skew skew;
    int64_t job_start_ns;

    struct run_set *sets;
    struct run_column_info *columns;
    uint32_t set_count, max_sets, column_count, max_columns;

    _Atomic uint64_t sequence;
    uint64_t share;           /* bytes that this rank may write; 0: no limit */
    _Atomic uint64_t written; /* bytes of sealed chunks that stay, and of events and tables since they were taken */
    int policy;
    bool budget_noted;

    struct run_pool pool;
    struct run_thread *threads;
    uint32_t *event_bytes, max_threads; /* event_bytes: of the fields, by type */
    struct run_table *tables;
    uint64_t *modules; /* a checksum of each one written */
    _Atomic uint32_t thread_count, event_count, table_count;
    uint32_t text_count, module_count;
    uint64_t module_changes; /* how often modules were loaded or unloaded, when they were written last */
    bool addresses; /* a field has addresses: modules are written */
    atomic_bool undeclared; /* a declaration is not sealed yet */

    struct run_lasts lasts[RUN_MAX_LASTS];
    _Atomic uint32_t lasts_count;
    size_t file_bytes;            /* of the live file */
    _Atomic size_t tail_needed;   /* bytes that last values and the end need in the run directory */
    size_t tail_room;             /* reserved there */
    uint64_t lost_at_failure;
    int end;                      /* enum mpitx_run_end; 0: not ended */
    uint64_t old_at_end;          /* RUN_OLD_EVENTS, at most, in the counters that were written then */

    /* the store */
    size_t bytes, live_bytes; /* of the mappings */
    uint8_t run_id[16];
    uint32_t ring_slots; /* keep-last: slots of the ring file */
    uint64_t ring_next;
    bool threaded, failing;
    atomic_bool closing;
    pthread_t thread;
    sem_t wake, done;
    uint32_t close_wait_ms;
    bool live_given; /* the configuration names the folder of live files */
    char live_path[PATH_MAX], manifest_path[PATH_MAX], node_path[PATH_MAX], ring_path[PATH_MAX], tail_path[PATH_MAX];
};

static inline struct run_chunk *run_slot_of(const struct run_live *file, uint32_t i)
{
    return (struct run_chunk *)(void *)((char *)(uintptr_t)file + RUN_LIVE_HEADER + (size_t)i * file->chunk_bytes);
}

static inline struct run_chunk *run_slot(const struct mpitx_run *run, uint32_t i) { return run_slot_of(run->live, i); }

static inline void run_count(struct mpitx_run *run, enum run_counter which, uint64_t n)
{
    atomic_fetch_add_explicit((_Atomic uint64_t *)&run->live->counter[which], n, memory_order_relaxed);
}

static inline bool run_off(const struct mpitx_run *run)
{
    return !run || !atomic_load_explicit(run->alive, memory_order_relaxed);
}

/* Whether the oldest chunks of this kind are overwritten. */
static inline bool run_in_ring(const struct mpitx_run *run, int kind)
{
    return (kind == RUN_KIND_SAMPLES || kind == RUN_KIND_EVENTS) && run->policy == MPITX_RUN_KEEP_LAST &&
           run->ring_slots;
}

static inline uint64_t pad8(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

/* ---- the lock: a bounded spin lock ---- */

#define RUN_SPINS 400 /* about 20 us */

static inline void run_pause_cpu(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static inline bool run_try_lock(struct mpitx_run *run)
{
    for (int i = 0; i < RUN_SPINS; i++) {
        if (!atomic_flag_test_and_set_explicit(&run->lock, memory_order_acquire)) return true;
        run_pause_cpu();
    }
    return false;
}

/* Blocks signals, as a handler may leave by siglongjmp. Lets the holder run between two tries. */
static inline bool run_try_lock_masked(struct mpitx_run *run, int tries)
{
    const uint64_t block = HOLD_SIGNALS;
    uint64_t before;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &block, &before, sizeof block);
    for (; tries > 0; tries--) {
        if (run_try_lock(run)) {
            run->signals = before;
            run->signals_blocked = true;
            run->lock_stuck = false;
            return true;
        }
        if (tries > 1) sched_yield();
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    return false;
}

/* For rare operations that should not fail. Samples do not block signals: if one was left, the lock is never released,
 * and waited for once. */
static inline bool run_try_lock_long(struct mpitx_run *run)
{
    bool locked = run_try_lock_masked(run, run->lock_stuck ? 1 : 100);
    if (!locked) run->lock_stuck = true;
    return locked;
}

static inline void run_unlock(struct mpitx_run *run)
{
    bool blocked = run->signals_blocked;
    uint64_t before = run->signals;
    run->signals_blocked = false;
    atomic_flag_clear_explicit(&run->lock, memory_order_release);
    if (__builtin_expect(blocked, 0)) syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}

/* ---- records of declarations; under the lock ---- */

#define RUN_MAX_TEXT 4096
#define RUN_MAX_LIBRARY_TEXT 8192 /* MPI_MAX_LIBRARY_VERSION_STRING */

struct run_text {
    const char *s;
    uint32_t n;
};

static inline struct run_text run_text_of(const char *s, size_t max)
{
    return (struct run_text){s ? s : "", s ? (uint32_t)strnlen(s, max) : 0};
}

static inline uint8_t *run_put(uint8_t *p, const void *from, size_t n)
{
    if (n) memcpy(p, from, n);
    return p + n;
}

static inline uint8_t *run_put_text(uint8_t *p, struct run_text t) { return run_put(run_put(p, &t.n, 4), t.s, t.n); }

static inline void run_publish(struct run_cursor *c)
{
    c->records++;
    atomic_store_explicit((_Atomic uint32_t *)&c->chunk->used, c->used, memory_order_release);
}

/* ---- crc.c ---- */

/* CRC-32C. */
void run_crc_start(void);
uint32_t run_crc32c(uint32_t before, const void *data, size_t n); /* before: the CRC of the preceding data, or 0 */

/* ---- file.c ---- */

/* Blocks SIGXFSZ, so that exceeding RLIMIT_FSIZE is an error here and not a signal for the program. */
struct run_signals {
    sigset_t mask;
    bool was_pending;
};
void run_block_sigxfsz(struct run_signals *h);
void run_restore_sigxfsz(const struct run_signals *h);

int run_open_ours(const char *path, int flags); /* for writing, never through a link, and only this user's file */
bool run_write_all(int fd, const void *data, size_t n);
int run_allocate_file(int fd, size_t at, size_t bytes); /* returns 0 or an errno */
void *run_map_new(const char *path, size_t bytes); /* creates and maps a file; NULL with errno on failure */
/* Whether 1/share of a memory file system stays free, or 256 MiB, with another file of this size; else errno is
 * ENOSPC. */
bool run_leaves_room(const char *path, uint64_t bytes, unsigned share);

uint64_t run_monotonic(void);
uint64_t run_read_clocks(const struct mpitx_run *run, struct run_clock_body *best); /* returns the ticks then */

/* ---- claim.c ---- */

bool run_claim(const char *dir, int32_t rank); /* false: another process of this rank is recorded */

/* ---- chunk.c ---- */

/* in a free slot owned by the caller */
void run_begin_chunk(struct mpitx_run *run, struct run_chunk *c, int kind, uint16_t chain);
void run_free_chunk(struct mpitx_run *run, struct run_chunk *c);
void run_seal_head(struct run_chunk *head, const void *records); /* completes a chunk's head for a file */
bool run_append_chunk(struct mpitx_run *run, const struct run_chunk *head, const void *records);
bool run_store_in_ring(struct mpitx_run *run, const struct run_chunk *head, const void *records);

/* ---- pool.c ---- */

/* Takes a free chunk of the pool, which the caller opens; NULL if there is none. wait: for another thread that makes
 * some. Not under the lock. */
struct run_chunk *run_pool_take(struct mpitx_run *run, int kind, uint16_t chain, bool wait);
void run_pool_seal(struct mpitx_run *run, struct run_chunk *c, uint64_t last_ticks, uint32_t records);
void run_pool_remove(struct mpitx_run *run); /* removes its files */
void run_pool_unmap(struct mpitx_run *run);

/* ---- last.c ---- */

bool run_last_reserve(struct mpitx_run *run, struct run_set *set, uint32_t id); /* under the lock */
void run_last_keep(struct run_set *set, uint64_t ticks, const void *row, const uint8_t *statuses); /* under the lock */
bool run_last_append(struct mpitx_run *run); /* appends them to the node's file if the newest samples were dropped */
bool run_last_counters(struct mpitx_run *run); /* appends the counters again if they have changed since the end */
void run_last_unmap(struct mpitx_run *run);
void run_tail_reserve(struct mpitx_run *run);
void run_tail_write(struct mpitx_run *run); /* writes last values, counters and end if chunks cannot be appended */

/* ---- flush.c ---- */

void run_start_flusher(struct mpitx_run *run);
bool run_stop_flusher(struct mpitx_run *run, bool join); /* false if it hangs in the file system */
void run_finish_files(struct mpitx_run *run); /* the flusher's last step; without a flusher, the caller's */
void run_remove_live(struct mpitx_run *run); /* removes the files that belong to this process alone */
void run_flush(struct mpitx_run *run); /* wakes the flusher, or else writes here what is sealed; under the lock */
void run_wake_flusher(struct mpitx_run *run, bool wait); /* the same, not under the lock, which it may wait for */

/* ---- record.c; under the lock ---- */

bool run_has_slot(const struct mpitx_run *run, uint32_t state); /* of enum run_chunk_state */
bool run_take_chunk(struct mpitx_run *run, struct run_cursor *cursor, int kind, uint32_t most);
void run_seal_chunk(struct mpitx_run *run, struct run_cursor *cursor);
uint8_t *run_meta_begin(struct mpitx_run *run, int type, size_t body, bool essential);
int run_write_meta(struct mpitx_run *run, int type, bool essential, const void *fixed, size_t fixed_bytes,
                   const struct run_text *texts, int text_count);
int run_write_clock(struct mpitx_run *run, bool essential);
void run_write_counters(struct mpitx_run *run);
/* Seals the open chunk of declarations, with the counters so far. Returns false and leaves it open if no free slot
 * would be left for the next one. */
bool run_seal_meta(struct mpitx_run *run);
void run_note_budget(struct mpitx_run *run);
bool run_within_budget(struct mpitx_run *run, int kind); /* for a chunk of events or rows; not under the lock */
int run_refuse(struct mpitx_run *run, int error); /* counts an error and returns it */

/* ---- event.c, table.c ---- */

/* Writes the declaration of an event or a table, under the lock. body->bytes is the offset of the first field on entry,
 * and of the end on return. */
int run_declare_fields(struct mpitx_run *run, int type, struct run_fields_body *body, const char *name,
                       const struct mpitx_run_field *fields);
int run_declared(struct mpitx_run *run, int rc);
void run_write_losses(struct mpitx_run *run); /* at the end, under the lock */
void run_seal_events(struct mpitx_run *run);
void run_seal_tables(struct mpitx_run *run);

/* ---- store.c ---- */

/* Creates all files and mappings; the caller writes the first records. Returns NULL with the reason in why. */
struct mpitx_run *run_store_open(const struct mpitx_run_options *options, char *why, size_t why_len);
/* Waits until everything is appended, and removes files that a finished run does not need. Frees the run. */
void run_store_close(struct mpitx_run *run, bool tidy);
/* Undoes run_store_open. */
void run_store_discard(struct mpitx_run *run);
void run_boot_id(char *id, size_t len); /* "" if unknown */

#endif
