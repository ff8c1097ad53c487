/* flush.c: writing chunks to the run directory: in the flusher thread, or under the lock without one. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* -- signals -- */

void run_block_sigxfsz(struct run_signals *h)
{
    sigset_t xfsz, pending;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    h->was_pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &xfsz, &h->mask);
}

void run_restore_sigxfsz(const struct run_signals *h)
{
    sigset_t xfsz;
    struct timespec none = {0, 0};
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    if (!h->was_pending)
        while (sigtimedwait(&xfsz, NULL, &none) < 0 && errno == EINTR)
            ;
    /* SIG_SETMASK would unblock the signal of the sampler's timers too, because glibc reserves it for itself. */
    if (sigismember(&h->mask, SIGXFSZ) == 0)
        pthread_sigmask(SIG_UNBLOCK, &xfsz, NULL);
}

/* -- appending to the run directory -- */

bool run_write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

/* All processes of a node append to one file. An append is one atomic write on every file system. Many processes may append at once, but
 * not while one truncates a chunk that a full disk cut off. Appending therefore takes a shared lock and truncating an exclusive one. The
 * wait is short, as a stopped process may hold the lock. */
static bool lock_file(int fd, short how)
{
    struct flock all = {.l_type = how, .l_whence = SEEK_SET};
    struct timespec ms = {0, 1000000};
    for (int i = 0; i < 50; i++) {
        if (fcntl(fd, F_OFD_SETLK, &all) == 0)
            return true;
        if (errno != EAGAIN && errno != EACCES)
            return false;
        nanosleep(&ms, NULL);
    }
    return false;
}

int run_open_ours(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, flags | O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Truncates a partial write, unless other processes have appended after it. */
static void truncate_partial(int fd, off_t n)
{
    off_t end = lseek(fd, 0, SEEK_CUR);
    struct flock none = {.l_type = F_UNLCK, .l_whence = SEEK_SET}; /* two holders of shared locks would wait for each other */
    if (fcntl(fd, F_OFD_SETLK, &none) == 0 && lock_file(fd, F_WRLCK) && lseek(fd, 0, SEEK_END) == end)
        (void)!ftruncate(fd, end - n);
}

/* Whether a write was cut short by RLIMIT_FSIZE. */
static bool beyond_limit(int fd)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && lseek(fd, 0, SEEK_CUR) >= (off_t)limit.rlim_cur;
}

/* Completes a chunk's head for a file. */
void run_seal_head(struct run_chunk *head, const void *records)
{
    head->state = RUN_SLOT_SEALED;
    head->crc = 0;
    head->crc = run_crc32c(run_crc32c(0, head, sizeof *head), records, head->used);
}

static ssize_t write_chunk(int fd, const struct run_chunk *head, const void *records)
{
    struct iovec parts[2] = {{.iov_base = (void *)(uintptr_t)head, .iov_len = sizeof *head}, {.iov_base = (void *)(uintptr_t)records, .iov_len = head->used}};
    ssize_t n;
    do
        n = writev(fd, parts, 2);
    while (n < 0 && errno == EINTR);
    return n;
}

bool run_append_chunk(struct mpitx_run *run, const struct run_chunk *head, const void *records)
{
    int fd = run_open_ours(run->node_path, O_APPEND);
    if (fd < 0)
        return false;
    bool locked = lock_file(fd, F_RDLCK);
    ssize_t n = (ssize_t)(sizeof *head + head->used), written = write_chunk(fd, head, records);
    int error = written < 0 ? errno : beyond_limit(fd) ? EFBIG : ENOSPC;
    if (written > 0 && written < n && locked)
        truncate_partial(fd, written);
    close(fd); /* unlocks too */
    errno = error;
    return written == n;
}

static bool store_in_ring(struct mpitx_run *run, const struct run_chunk *head, const void *records)
{
    int fd = run_open_ours(run->ring_path, 0);
    if (fd < 0)
        return false;
    off_t at = (off_t)(run->ring_next % run->ring_slots * run->live->chunk_bytes);
    struct run_chunk old;
    bool replaces = run->ring_next >= run->ring_slots && pread(fd, &old, sizeof old, at) == sizeof old && old.kind == RUN_KIND_EVENTS;
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

static struct run_chunk *older_sealed(const struct run_live *file, bool meta, struct run_chunk *oldest)
{
    for (uint32_t i = 0; i < file->chunks; i++) {
        struct run_chunk *c = run_slot_of(file, i);
        if (atomic_load_explicit((_Atomic uint32_t *)&c->state, memory_order_acquire) == RUN_SLOT_SEALED &&
            (c->kind == RUN_KIND_META) == meta && (!oldest || c->sequence < oldest->sequence))
            oldest = c;
    }
    return oldest;
}

/* Writes declarations first, so that a file can be read alone. They are sealed before the records that need them, so whoever sees sealed
 * records also sees their sealed declarations. */
static struct run_chunk *oldest_sealed(struct mpitx_run *run)
{
    struct run_chunk *data = older_sealed(run->live, false, NULL), *meta;
    for (uint32_t i = 0, n = run->pool.files; i < n; i++)
        data = older_sealed(run->pool.file[i], false, data);
    meta = older_sealed(run->live, true, NULL);
    return meta ? meta : data;
}

/* Writes a copy of rows, which may change during the write if the process aborts. */
static bool write_out(struct mpitx_run *run, const struct run_chunk *c)
{
    struct run_chunk head = *c;
    const void *records = c + 1;
    void *copy = MAP_FAILED;
    if (c->kind == RUN_KIND_TABLE) {
        copy = map_memory(head.used, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy != MAP_FAILED)
            records = memcpy(copy, c + 1, head.used);
    }
    run_seal_head(&head, records);
    bool ok = run_in_ring(run, c->kind) ? store_in_ring(run, &head, records) : run_append_chunk(run, &head, records);
    int error = errno;
    if (copy != MAP_FAILED)
        unmap_memory(copy, head.used);
    errno = error;
    return ok;
}

static uint64_t lost_for_room(const uint64_t *counter)
{
    return counter[RUN_LOST_FULL] + counter[RUN_LOST_EVENTS];
}

/* Keeps the reason of a failure that may cost samples or events. */
static void note_failure(struct mpitx_run *run, int error)
{
    uint64_t *counter = run->live->counter, lost = lost_for_room(counter);
    run_count(run, RUN_APPEND_ERRORS, 1);
    if (!run->failing && (!counter[RUN_FAILED_ERRNO] || lost == run->lost_at_failure)) {
        counter[RUN_FAILED_TICKS] = run->ticks();
        counter[RUN_FAILED_ERRNO] = (uint64_t)error;
        run->lost_at_failure = lost;
    }
    run->failing = true;
}

/* A past failure that cost nothing is not the reason of later losses. */
static void forget_failure(struct mpitx_run *run)
{
    uint64_t *counter = run->live->counter;
    if (lost_for_room(counter) == run->lost_at_failure)
        counter[RUN_FAILED_TICKS] = counter[RUN_FAILED_ERRNO] = 0;
}

void run_flush_chunks(struct mpitx_run *run)
{
    struct run_chunk *c;
    run_tail_reserve(run);
    while ((c = oldest_sealed(run))) {
        if (!write_out(run, c)) {
            note_failure(run, errno); /* kept in the live file, and tried again */
            run_tail_write(run);
            return;
        }
        run_free_chunk(run, c);
    }
    if (run->failing)
        forget_failure(run);
    run->failing = false;
}

void run_finish_files(struct mpitx_run *run)
{
    struct run_signals h;
    run_block_sigxfsz(&h);
    run_flush_chunks(run);
    if (!run->failing && run_last_append(run) && run_last_counters(run))
        run_remove_live(run);
    else
        run_tail_write(run);
    run_restore_sigxfsz(&h);
}

static void *flusher(void *arg)
{
    struct mpitx_run *run = arg;
    unshare(CLONE_FS); /* so that a chroot of the program does not affect this thread */
    for (;;) {
        if (run->failing) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec++;
            sem_timedwait(&run->wake, &until);
        } else {
            sem_wait(&run->wake);
        }
        if (atomic_load_explicit(&run->closing, memory_order_acquire))
            break;
        run_flush_chunks(run);
    }
    run_finish_files(run);
    sem_post(&run->done);
    return NULL;
}

void run_start_flusher(struct mpitx_run *run)
{
    static const size_t stacks[] = {131072, 1048576, 0}; /* a program's thread-local data use up stack */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks && !run->threaded; i++) {
        pthread_attr_t attr;
        if (pthread_attr_init(&attr))
            break;
        if (stacks[i])
            pthread_attr_setstacksize(&attr, stacks[i]);
        run->threaded = true; /* set before the thread starts */
        if (pthread_create(&run->thread, &attr, flusher, run))
            run->threaded = false;
        pthread_attr_destroy(&attr);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool run_stop_flusher(struct mpitx_run *run, bool join)
{
    struct timespec until;
    if (!run->threaded)
        return true;
    atomic_store_explicit(&run->closing, true, memory_order_release);
    sem_post(&run->wake);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += run->close_wait_ms / 1000;
    until.tv_nsec += (long)(run->close_wait_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    int rc;
    do
        rc = sem_timedwait(&run->done, &until);
    while (rc && errno == EINTR);
    if (join && rc)
        pthread_detach(run->thread);
    else if (join)
        pthread_join(run->thread, NULL);
    return rc == 0;
}
