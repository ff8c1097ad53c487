/* last.c: the last values, for when samples are dropped.
 *
 * Each set has space for two rows after the live file's slots from its declaration on. Dropped samples go there in
 * turn, so that one row is complete whenever the process is killed. A file in the run directory has space for the same
 * rows, the counters and the end. It is written if chunks cannot be appended. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_LASTS 16384u
#define MAX_DOUBLINGS 5
#define TAIL_END 512 /* bytes of a chunk with the counters, a clock pair, and the end */

/* ---- in the live file ---- */

/* Maps the next chunk for last values, after checking that nobody has replaced the live file. */
static bool map_lasts(struct mpitx_run *run, struct run_lasts *lasts, size_t bytes)
{
    struct stat st;
    size_t skip = run->file_bytes % (size_t)sysconf(_SC_PAGESIZE);
    int fd = open(run->live_path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (size_t)st.st_size == run->file_bytes &&
              run_allocate_file(fd, run->file_bytes, bytes) == 0;
    void *map = ok ? map_memory(skip + bytes, MAP_SHARED | MAP_POPULATE, fd, (off_t)(run->file_bytes - skip))
                   : MAP_FAILED;
    close(fd);
    if (map == MAP_FAILED) return false;
    *lasts = (struct run_lasts){map, skip + bytes, (struct run_chunk *)(void *)((char *)map + skip)};
    run->file_bytes += bytes;
    return true;
}

static bool grow(struct mpitx_run *run, size_t need)
{
    uint32_t n = run->lasts_count;
    size_t bytes = (size_t)FIRST_LASTS << (n < MAX_DOUBLINGS ? n : MAX_DOUBLINGS);
    while (bytes < sizeof(struct run_chunk) + need) bytes *= 2;
    struct run_signals h;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_block_sigxfsz(&h);
    bool ok = n < RUN_MAX_LASTS && map_lasts(run, &run->lasts[n], bytes);
    run_restore_sigxfsz(&h);
    pthread_setcancelstate(cancel, NULL);
    if (!ok) return false;
    struct run_chunk head = {
        .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .kind = RUN_KIND_LAST, .stream = run->live->stream,
        .sequence = ++run->sequence, .rank = run->live->rank, .capacity = (uint32_t)(bytes - sizeof head),
        .state = RUN_SLOT_OPEN,
    };
    memcpy(head.run_id, run->run_id, sizeof head.run_id);
    memcpy(run->lasts[n].chunk, &head, sizeof head);
    atomic_store_explicit((_Atomic uint64_t *)&run->lasts[n].chunk->magic, RUN_CHUNK_MAGIC, memory_order_release);
    run->lasts_count = n + 1;
    return true;
}

static uint32_t record_bytes(const struct run_set *set)
{
    return (uint32_t)(sizeof(struct run_meta) + sizeof(struct run_last_body) + pad8(set->columns)) + set->row_bytes;
}

bool run_last_reserve(struct mpitx_run *run, struct run_set *set, uint32_t id)
{
    uint32_t n = run->lasts_count, bytes = record_bytes(set);
    const struct run_chunk *last = n ? run->lasts[n - 1].chunk : NULL;
    if ((!last || last->capacity - last->used < 2 * bytes) && !grow(run, 2 * bytes)) return false;
    struct run_chunk *c = run->lasts[run->lasts_count - 1].chunk;
    set->last = (uint8_t *)(c + 1) + c->used;
    for (int i = 0; i < 2; i++) {
        struct run_meta head = {.bytes = bytes, .type = RUN_META_LAST};
        struct run_last_body body = {.set = id};
        run_put(run_put(set->last + (size_t)i * bytes, &head, sizeof head), &body, sizeof body);
    }
    c->records += 2;
    atomic_store_explicit((_Atomic uint32_t *)&c->used, c->used + 2 * bytes, memory_order_release);
    size_t needed = run->tail_needed ? run->tail_needed : TAIL_END;
    run->tail_needed = needed + 2 * bytes + (c->records == 2 ? sizeof *c : 0);
    if (run->threaded) sem_post(&run->wake); /* reserves the space in the run directory */
    return true;
}

void run_last_keep(struct run_set *set, uint64_t ticks, const void *row, const uint8_t *statuses)
{
    set->dropped = true;
    if (!set->last) {
        agent_lacks(LACK_FILE, ENOSPC);
        return;
    }
    set->turn ^= 1;
    uint8_t *p = set->last + (size_t)set->turn * record_bytes(set);
    _Atomic uint64_t *time = (_Atomic uint64_t *)&((struct run_meta *)(void *)p)->ticks;
    uint32_t has_statuses = statuses != NULL;
    /* Readers skip a record whose time is 0, or changes while they copy it. */
    atomic_store_explicit(time, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    p += sizeof(struct run_meta);
    memcpy(p + offsetof(struct run_last_body, has_statuses), &has_statuses, sizeof has_statuses);
    p += sizeof(struct run_last_body);
    if (statuses) memcpy(p, statuses, set->columns);
    memcpy(p + pad8(set->columns), row, set->row_bytes);
    atomic_store_explicit(time, ticks, memory_order_release);
}

bool run_last_append(struct mpitx_run *run)
{
    bool dropped = false;
    for (uint32_t i = 0; i < run->set_count; i++) dropped |= run->sets[i].dropped;
    for (uint32_t i = 0; dropped && i < run->lasts_count; i++) {
        struct run_chunk *c = run->lasts[i].chunk;
        c->last_ticks = run->last_ticks;
        run_seal_head(c, c + 1);
        if (!run_append_chunk(run, c, c + 1)) return false;
    }
    return true;
}

void run_last_unmap(struct mpitx_run *run)
{
    for (uint32_t i = 0; i < run->lasts_count; i++) unmap_memory(run->lasts[i].map, run->lasts[i].map_bytes);
}

/* ---- in the run directory ---- */

void run_tail_reserve(struct mpitx_run *run)
{
    size_t needed = run->tail_needed;
    if (needed <= run->tail_room) return;
    int fd = run_open_ours(run->tail_path, 0);
    if (fd < 0) return;
    if (run_allocate_file(fd, 0, needed) == 0) run->tail_room = needed;
    close(fd);
}

static uint8_t *put_record(uint8_t *p, int type, uint64_t ticks, const void *body, size_t n)
{
    struct run_meta head = {.bytes = (uint32_t)(sizeof head + n), .type = (uint16_t)type, .ticks = ticks};
    return run_put(run_put(p, &head, sizeof head), body, n);
}

/* Writes a chunk with the counters so far and, if the run has ended, how. */
static size_t put_end(struct mpitx_run *run, uint8_t *at)
{
    struct run_chunk *c = (struct run_chunk *)(void *)at;
    uint64_t counters[1 + RUN_COUNTERS] = {RUN_COUNTERS}, now = run->ticks();
    memcpy(counters + 1, run->live->counter, sizeof run->live->counter);
    uint8_t *p = put_record((uint8_t *)(c + 1), RUN_META_COUNTERS, now, counters, sizeof counters);
    if (run->end) {
        struct run_clock_body clocks;
        uint64_t ticks = run_read_clocks(run, &clocks);
        int32_t end[2] = {run->end, 0};
        p = put_record(p, RUN_META_CLOCK, ticks, &clocks, sizeof clocks);
        p = put_record(p, RUN_META_END, now, end, sizeof end);
    }
    *c = (struct run_chunk){
        .magic = RUN_CHUNK_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof *c, .kind = RUN_KIND_META,
        .stream = run->live->stream, .sequence = ++run->sequence, .rank = run->live->rank,
        .capacity = TAIL_END - sizeof *c,
        .used = (uint32_t)(p - (uint8_t *)(c + 1)), .first_ticks = now, .last_ticks = now,
        .records = run->end ? 3 : 1,
    };
    memcpy(c->run_id, run->run_id, sizeof c->run_id);
    run_seal_head(c, c + 1);
    return sizeof *c + c->used;
}

/* The last chunks replace others after the end was recorded. */
bool run_last_counters(struct mpitx_run *run)
{
    _Alignas(struct run_chunk) uint8_t copy[TAIL_END];
    struct run_chunk *c = (struct run_chunk *)(void *)copy;
    if (!run->end || run->live->counter[RUN_OLD_EVENTS] == run->old_at_end) return true;
    put_end(run, copy);
    return run_append_chunk(run, c, c + 1);
}

void run_tail_write(struct mpitx_run *run)
{
    bool alone = run->end || !run->threaded; /* else samples continue meanwhile */
    size_t room = run->tail_needed, n = 0;
    if (!room) return;
    uint8_t *copy = map_memory(room, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0); /* no faults under the lock */
    if (copy == MAP_FAILED) return;
    if (alone || run_try_lock_long(run)) {
        for (uint32_t i = 0; i < run->lasts_count; i++) {
            const struct run_chunk *c = run->lasts[i].chunk;
            if (n + sizeof *c + c->used + TAIL_END > room) break;
            struct run_chunk *to = memcpy(copy + n, c, sizeof *c + c->used);
            to->last_ticks = run->last_ticks;
            n += sizeof *c + c->used;
        }
        size_t lasts = n;
        n += put_end(run, copy + n);
        if (!alone) run_unlock(run);
        for (size_t at = 0; at < lasts;) {
            struct run_chunk *c = (struct run_chunk *)(void *)(copy + at);
            run_seal_head(c, c + 1);
            at += sizeof *c + c->used;
        }
        int fd = run_open_ours(run->tail_path, 0);
        if (fd >= 0) {
            run_write_all(fd, copy, n);
            close(fd);
        }
    }
    unmap_memory(copy, room);
}
