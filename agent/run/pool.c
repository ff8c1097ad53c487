/* pool.c: the chunks of events and tables. They are slots of live files that are created as needed, mapped once and
 * never moved, so that a thread can take a chunk without a lock, and rows stay in place. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_SLOTS 4u
#define MOST_SLOTS 64u /* creating a larger file takes milliseconds */
#define MAX_WAIT_NS 100000000u
#define MAX_STOP_NS 100000000u

static bool path_of(const struct mpitx_run *run, uint32_t number, char *path, size_t len)
{
    int stem = (int)(strlen(run->live_path) - strlen(".live"));
    int n = snprintf(path, len, "%.*s-%u.live", stem, run->live_path, number);
    return n > 0 && (size_t)n < len;
}

/* The number of slots of the next file; 0: the pool may not grow. A quarter is for tables, as events are transient. */
static uint32_t next_slots(const struct mpitx_run *run, int kind)
{
    const struct run_pool *pool = &run->pool;
    uint64_t most = (kind == RUN_KIND_TABLE ? pool->max_bytes : pool->max_bytes / 4 * 3) / run->live->chunk_bytes;
    uint32_t n = FIRST_SLOTS;
    for (uint32_t f = pool->files; f && n < MOST_SLOTS; f--)
        n *= kind == RUN_KIND_EVENTS ? 4 : 2; /* many threads may begin at once, each with a chunk */
    while (n && pool->slots + n > most) n /= 2;
    return pool->files == RUN_MAX_FILES || pool->failed ? 0 : n;
}

static bool grow(struct mpitx_run *run, int kind)
{
    struct run_pool *pool = &run->pool;
    char path[PATH_MAX];
    struct run_signals h;
    uint32_t n = next_slots(run, kind);
    if (!n || !path_of(run, pool->files + 1, path, sizeof path)) {
        pool->full[kind == RUN_KIND_TABLE] = true;
        return false;
    }
    run_block_sigxfsz(&h);
    bool here = !run_off(run) && access(run->live_path, F_OK) == 0; /* false in a program that has changed its root */
    size_t bytes = RUN_LIVE_HEADER + (size_t)n * run->live->chunk_bytes;
    struct run_live *file = here && (run->live_given || run_leaves_room(run->live_path, bytes, 4))
                            ? run_map_new(path, bytes) : NULL;
    int error = errno;
    run_restore_sigxfsz(&h);
    if (!file) {
        if (!run_off(run)) agent_lacks(LACK_FILE, error);
        pool->failed = true;
        return false;
    }
    memcpy((char *)file + RUN_OWNER_AT, (char *)run->live + RUN_OWNER_AT, RUN_LIVE_HEADER - RUN_OWNER_AT);
    struct run_live head = *run->live;
    head.magic = 0;
    head.header_bytes = offsetof(struct run_live, counter);
    head.chunks = n;
    memcpy(file, &head, offsetof(struct run_live, counter));
    atomic_store_explicit((_Atomic uint64_t *)&file->magic, RUN_LIVE_MAGIC, memory_order_release);
    pool->file[pool->files] = file;
    pool->slots += n;
    atomic_fetch_add_explicit(&pool->files, 1, memory_order_release);
    atomic_fetch_add_explicit(&pool->free, n, memory_order_release);
    return true;
}

static bool reserve(struct run_pool *pool)
{
    uint32_t n = atomic_load_explicit(&pool->free, memory_order_relaxed);
    while (n)
        if (atomic_compare_exchange_weak_explicit(&pool->free, &n, n - 1, memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* There is a slot for every reservation, but it may be one that was already passed. */
static struct run_chunk *find_reserved(struct run_pool *pool)
{
    for (int round = 0; round < 1000; round++)
        for (uint32_t f = pool->files; f-- > 0;)
            for (uint32_t i = 0; i < pool->file[f]->chunks; i++) {
                struct run_chunk *c = run_slot_of(pool->file[f], i);
                uint32_t state = RUN_SLOT_FREE;
                if (atomic_compare_exchange_strong_explicit((_Atomic uint32_t *)&c->state, &state, RUN_SLOT_TAKEN,
                                                            memory_order_acquire, memory_order_relaxed))
                    return c;
            }
    return NULL;
}

/* One thread creates a file. Other threads sleep until it is done, but not long, because that thread may have no core.
 * Returns false if there is no room. */
static bool grow_once(struct mpitx_run *run, int kind, bool wait)
{
    struct run_pool *pool = &run->pool;
    const struct timespec nap = {0, 100000};
    if (!atomic_exchange_explicit(&pool->growing, true, memory_order_acquire)) {
        bool grown = pool->free || grow(run, kind);
        pool->slow = false;
        atomic_store_explicit(&pool->growing, false, memory_order_release);
        return grown;
    }
    if (!wait || pool->slow) return pool->free;
    for (uint64_t start = run_monotonic(); pool->growing; nanosleep(&nap, NULL))
        if (run_monotonic() - start > MAX_WAIT_NS) {
            pool->slow = true;
            return false;
        }
    return true;
}

struct run_chunk *run_pool_take(struct mpitx_run *run, int kind, uint16_t chain, bool wait)
{
    struct run_pool *pool = &run->pool;
    while (!reserve(pool)) {
        int saved = errno, cancel;
        if (pool->failed || pool->full[kind == RUN_KIND_TABLE]) return NULL;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
        bool grown = grow_once(run, kind, wait);
        pthread_setcancelstate(cancel, NULL);
        errno = saved;
        if (!grown) return NULL;
    }
    struct run_chunk *c = find_reserved(pool);
    if (!c) return NULL;
    run_begin_chunk(run, c, kind, chain);
    if (!run_in_ring(run, kind)) run->written += run->live->chunk_bytes;
    return c;
}

void run_pool_seal(struct mpitx_run *run, struct run_chunk *c, uint64_t last_ticks, uint32_t records)
{
    if (!run_in_ring(run, c->kind)) run->written -= c->used ? c->capacity - c->used : run->live->chunk_bytes;
    if (!c->used) {
        run_free_chunk(run, c);
        return;
    }
    c->last_ticks = last_ticks;
    c->records = records;
    atomic_store_explicit((_Atomic uint32_t *)&c->state, RUN_SLOT_SEALED, memory_order_release);
}

/* No thread creates a file any more. Returns false if one does at this moment, and takes too long. */
static bool stop_growing(struct run_pool *pool)
{
    for (uint64_t start = run_monotonic(); atomic_exchange_explicit(&pool->growing, true, memory_order_acquire);
         sched_yield())
        if (run_monotonic() - start > MAX_STOP_NS) return false;
    return true;
}

/* Removes the last file first, as readers find the files by counting. */
void run_pool_remove(struct mpitx_run *run)
{
    char path[PATH_MAX];
    bool stopped = stop_growing(&run->pool);
    for (uint32_t n = run->pool.files + !stopped; n; n--)
        if (path_of(run, n, path, sizeof path)) unlink(path);
}

void run_pool_unmap(struct mpitx_run *run)
{
    for (uint32_t i = 0; i < run->pool.files; i++)
        unmap_memory(run->pool.file[i],
                     RUN_LIVE_HEADER + (size_t)run->pool.file[i]->chunks * run->pool.file[i]->chunk_bytes);
}
