/* run_internal.h: what run.c (records) and run_store.c (chunks and files) share. */
#ifndef MPITX_RUN_INTERNAL_H
#define MPITX_RUN_INTERNAL_H

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "run.h"
#include "run_format.h"

#define RUN_META_RESERVE 512 /* of every meta chunk, for the records that end a run */

struct run_set {
    uint32_t row_bytes, columns;
    bool baseline; /* its first sample is in a meta chunk too */
};

struct run_column_info {
    uint32_t bytes; /* of all elements */
    uint32_t element_bytes;
};

/* A chunk being filled. */
struct run_cursor {
    struct run_chunk *chunk; /* NULL: none */
    uint32_t used, room;     /* room: up to where used may grow */
    uint32_t records;
};

struct mpitx_run {
    atomic_int *alive; /* on a page that forked children find wiped */
    atomic_flag lock;
    struct run_live *live;
    struct run_cursor meta, samples;
    uint64_t base_ticks, last_ticks;
    uint64_t (*ticks)(void);
    double ns_per_tick;
    int clock;

    struct run_set *sets;
    struct run_column_info *columns;
    uint32_t set_count, most_sets, column_count, most_columns;

    uint64_t sequence;
    uint64_t share;   /* bytes that this rank may write; 0: no bound */
    uint64_t written; /* bytes of sealed chunks that stay */
    int policy;
    bool budget_noted;

    /* the store */
    size_t bytes, live_bytes; /* of the mappings */
    uint8_t run_id[16];
    uint32_t ring_slots; /* keep-last: chunks of its ring file */
    uint64_t ring_next;
    bool threaded, failing;
    atomic_bool closing;
    pthread_t thread;
    sem_t wake, done;
    uint32_t close_wait_ms;
    char live_path[PATH_MAX], manifest_path[PATH_MAX], node_path[PATH_MAX], ring_path[PATH_MAX];
};

static inline struct run_chunk *run_slot(const struct mpitx_run *run, uint32_t i)
{
    return (struct run_chunk *)(void *)((char *)run->live + RUN_LIVE_HEADER + (size_t)i * run->live->chunk_bytes);
}

static inline void run_count(struct mpitx_run *run, enum run_counter which, uint64_t n)
{
    atomic_fetch_add_explicit((_Atomic uint64_t *)&run->live->counter[which], n, memory_order_relaxed);
}

static inline bool run_off(const struct mpitx_run *run)
{
    return !run || !atomic_load_explicit(run->alive, memory_order_relaxed);
}

static inline uint64_t pad8(uint64_t n) { return (n + 7) & ~(uint64_t)7; }

uint64_t run_monotonic(void);

/* Makes everything on disk and in memory but the first records; NULL with the reason in why. */
struct mpitx_run *run_store_open(const struct mpitx_run_options *options, char *why, size_t why_len);
/* Waits until everything is appended, and removes what a finished run needs no more. The run is gone afterwards. */
void run_store_close(struct mpitx_run *run);
/* Undoes run_store_open. */
void run_store_discard(struct mpitx_run *run);

/* Under the lock: */
bool run_take_chunk(struct mpitx_run *run, struct run_cursor *cursor, int kind, uint32_t most);
void run_seal_chunk(struct mpitx_run *run, struct run_cursor *cursor);

#endif
