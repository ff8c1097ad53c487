/* chunk.c: a chunk: its beginning in a slot, and its way to the run directory. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

void run_begin_chunk(struct mpitx_run *run, struct run_chunk *c, int kind, uint16_t chain)
{
    struct run_chunk head = {
        .magic = RUN_CHUNK_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .kind = (uint8_t)kind,
        .chain = chain, .stream = run->live->stream, .rank = run->live->rank,
        .capacity = run->live->chunk_bytes - (uint32_t)sizeof *c, .state = c->state,
    };
    memcpy(head.run_id, run->run_id, sizeof head.run_id);
    /* The sequence number changes first, so that a reader that copied the old contents notices. */
    atomic_store_explicit((_Atomic uint64_t *)&c->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(c, &head, sizeof head);
    atomic_store_explicit((_Atomic uint64_t *)&c->sequence, ++run->sequence, memory_order_release);
}

void run_free_chunk(struct mpitx_run *run, struct run_chunk *c)
{
    bool pooled = c->kind == RUN_KIND_EVENTS || c->kind == RUN_KIND_TABLE;
    atomic_store_explicit((_Atomic uint32_t *)&c->state, RUN_SLOT_FREE, memory_order_release);
    if (pooled) atomic_fetch_add_explicit(&run->pool.free, 1, memory_order_release);
}

/* ---- appending to the run directory ---- */

/* All processes of a node append to one file. An append is one atomic write on every file system. Many processes may
 * append at once, but not while one truncates a chunk that a full disk cut off. Appending therefore takes a shared lock
 * and truncating an exclusive one. The wait is short, as a stopped process may hold the lock. */
static bool lock_file(int fd, short how)
{
    struct flock all = {.l_type = how, .l_whence = SEEK_SET};
    struct timespec ms = {0, 1000000};
    for (int i = 0; i < 50; i++) {
        if (fcntl(fd, F_OFD_SETLK, &all) == 0) return true;
        if (errno != EAGAIN && errno != EACCES) return false;
        nanosleep(&ms, NULL);
    }
    return false;
}

/* Truncates a partial write, unless other processes have appended after it. */
static void truncate_partial(int fd, off_t n)
{
    off_t end = lseek(fd, 0, SEEK_CUR);
    struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET}; /* two holders of shared locks would deadlock */
    if (fcntl(fd, F_OFD_SETLK, &none) == 0 && lock_file(fd, F_WRLCK) && lseek(fd, 0, SEEK_END) == end)
        (void)!ftruncate(fd, end - n);
}

/* Whether a write was cut short by RLIMIT_FSIZE. */
static bool beyond_limit(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           lseek(fd, 0, SEEK_CUR) >= (off_t)limit.rlim_cur;
}

void run_seal_head(struct run_chunk *head, const void *records)
{
    head->state = RUN_SLOT_SEALED;
    head->crc = 0;
    head->crc = run_crc32c(run_crc32c(0, head, sizeof *head), records, head->used);
}

static ssize_t write_chunk(int fd, const struct run_chunk *head, const void *records)
{
    struct iovec parts[2] = {{.iov_base = (void *)(uintptr_t)head, .iov_len = sizeof *head},
                             {.iov_base = (void *)(uintptr_t)records, .iov_len = head->used}};
    ssize_t n;
    do n = writev(fd, parts, 2);
    while (n < 0 && errno == EINTR);
    return n;
}

bool run_append_chunk(struct mpitx_run *run, const struct run_chunk *head, const void *records)
{
    int fd = run_open_ours(run->node_path, O_APPEND);
    if (fd < 0) return false;
    bool locked = lock_file(fd, F_RDLCK);
    ssize_t n = (ssize_t)(sizeof *head + head->used), written = write_chunk(fd, head, records);
    int error = written < 0 ? errno : beyond_limit(fd) ? EFBIG : ENOSPC;
    if (written > 0 && written < n && locked) truncate_partial(fd, written);
    close(fd); /* unlocks too */
    errno = error;
    return written == n;
}

bool run_store_in_ring(struct mpitx_run *run, const struct run_chunk *head, const void *records)
{
    int fd = run_open_ours(run->ring_path, 0);
    if (fd < 0) return false;
    off_t at = (off_t)(run->ring_next % run->ring_slots * run->live->chunk_bytes);
    struct run_chunk old;
    bool replaces = run->ring_next >= run->ring_slots && pread(fd, &old, sizeof old, at) == sizeof old &&
                    old.kind == RUN_KIND_EVENTS;
    bool ok = lseek(fd, at, SEEK_SET) >= 0 && write_chunk(fd, head, records) == (ssize_t)(sizeof *head + head->used);
    close(fd);
    run->ring_next += ok;
    if (ok && replaces) {
        uint64_t *newest = &run->live->counter[RUN_OLD_TICKS];
        run_count(run, RUN_OLD_EVENTS, old.records);
        *newest = old.last_ticks > *newest ? old.last_ticks : *newest;
    }
    return ok;
}
