/* flush.c: writing chunks to the run directory: in the flusher thread, or under the lock without one. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

/* Writes declarations first, so that a file can be read alone. They are sealed before the records that need them, so
 * whoever sees sealed records also sees their sealed declarations. */
static struct run_chunk *oldest_sealed(struct mpitx_run *run)
{
    struct run_chunk *data = older_sealed(run->live, false, NULL), *meta;
    for (uint32_t i = 0, n = run->pool.files; i < n; i++) data = older_sealed(run->pool.file[i], false, data);
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
        if (copy != MAP_FAILED) records = memcpy(copy, c + 1, head.used);
    }
    run_seal_head(&head, records);
    bool ok = run_in_ring(run, c->kind) ? run_store_in_ring(run, &head, records)
                                        : run_append_chunk(run, &head, records);
    int error = errno;
    if (copy != MAP_FAILED) unmap_memory(copy, head.used);
    errno = error;
    return ok;
}

static uint64_t lost_for_room(const uint64_t *counter) { return counter[RUN_LOST_FULL] + counter[RUN_LOST_EVENTS]; }

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
    if (lost_for_room(counter) == run->lost_at_failure) counter[RUN_FAILED_TICKS] = counter[RUN_FAILED_ERRNO] = 0;
}

static void flush_chunks(struct mpitx_run *run)
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
    if (run->failing) forget_failure(run);
    run->failing = false;
}

void run_remove_live(struct mpitx_run *run)
{
    run_pool_remove(run);
    unlink(run->live_path);
    unlink(run->manifest_path);
    unlink(run->tail_path); /* last, as it says how the run ended */
}

void run_finish_files(struct mpitx_run *run)
{
    struct run_signals h;
    run_block_sigxfsz(&h);
    flush_chunks(run);
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
        if (atomic_load_explicit(&run->closing, memory_order_acquire)) break;
        flush_chunks(run);
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
        if (pthread_attr_init(&attr)) break;
        if (stacks[i]) pthread_attr_setstacksize(&attr, stacks[i]);
        run->threaded = true; /* set before the thread starts */
        if (pthread_create(&run->thread, &attr, flusher, run)) run->threaded = false;
        pthread_attr_destroy(&attr);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

bool run_stop_flusher(struct mpitx_run *run, bool join)
{
    struct timespec until;
    if (!run->threaded) return true;
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
    do rc = sem_timedwait(&run->done, &until);
    while (rc && errno == EINTR);
    if (join && rc)
        pthread_detach(run->thread);
    else if (join)
        pthread_join(run->thread, NULL);
    return rc == 0;
}

void run_flush(struct mpitx_run *run)
{
    if (run->threaded) {
        sem_post(&run->wake);
        return;
    }
    struct run_signals h;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_block_sigxfsz(&h);
    flush_chunks(run);
    run_restore_sigxfsz(&h);
    pthread_setcancelstate(cancel, NULL);
}

void run_wake_flusher(struct mpitx_run *run, bool wait)
{
    if (run->threaded) {
        sem_post(&run->wake);
    } else if (wait ? run_try_lock_long(run) : run_try_lock_masked(run, 1)) {
        run_flush(run);
        run_unlock(run);
    }
}
