/* run_store.c: the chunks of a run and the files they live in. */
#define _GNU_SOURCE
#include "run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_CHUNK 65536u
#define LEAST_CHUNK 8192u /* where the budget allows no larger ones */
#define MOST_CHUNK 524288u
#define DEFAULT_CHUNKS 6u
#define MOST_COLUMNS (1u << 20)

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* -- CRC-32C, eight bytes at a time -- */

static uint32_t crc_table[8][256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void make_crc_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
        crc_table[0][i] = c;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            crc_table[k][i] = crc_table[k - 1][i] >> 8 ^ crc_table[0][crc_table[k - 1][i] & 255];
}

static uint32_t crc32c(const void *data, size_t n)
{
    const uint8_t *p = data;
    uint32_t c = ~0u;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t x;
        memcpy(&x, p, 8);
        x ^= c;
        c = crc_table[7][x & 255] ^ crc_table[6][x >> 8 & 255] ^ crc_table[5][x >> 16 & 255] ^ crc_table[4][x >> 24 & 255] ^
            crc_table[3][x >> 32 & 255] ^ crc_table[2][x >> 40 & 255] ^ crc_table[1][x >> 48 & 255] ^ crc_table[0][x >> 56];
    }
    for (; n; n--, p++)
        c = c >> 8 ^ crc_table[0][(c ^ *p) & 255];
    return ~c;
}

/* -- signals: a file beyond RLIMIT_FSIZE is an error for us, not SIGXFSZ for the program -- */

struct hushed {
    sigset_t mask;
    bool was_pending;
};

static void hush(struct hushed *h)
{
    sigset_t xfsz, pending;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    h->was_pending = !sigpending(&pending) && sigismember(&pending, SIGXFSZ) == 1;
    pthread_sigmask(SIG_BLOCK, &xfsz, &h->mask);
}

static void unhush(const struct hushed *h)
{
    sigset_t xfsz;
    struct timespec none = {0, 0};
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    if (!h->was_pending)
        while (sigtimedwait(&xfsz, NULL, &none) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &h->mask, NULL);
}

/* -- chunks; under the lock -- */

bool run_take_chunk(struct mpitx_run *run, struct run_cursor *cursor, int kind, uint32_t most)
{
    struct run_chunk *found = NULL;
    int needed = kind == RUN_KIND_SAMPLES ? 2 : 1; /* the last free one is for declarations and the end */
    for (uint32_t i = 0; i < run->live->chunks && needed; i++) {
        struct run_chunk *c = run_slot(run, i);
        if (atomic_load_explicit((_Atomic uint32_t *)&c->state, memory_order_acquire) == RUN_SLOT_FREE) {
            found = c;
            needed--;
        }
    }
    *cursor = (struct run_cursor){0};
    if (needed)
        return false;
    uint32_t capacity = run->live->chunk_bytes - (uint32_t)sizeof *found;
    struct run_chunk head = {
        .magic = RUN_CHUNK_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .kind = (uint8_t)kind,
        .stream = run->live->stream, .rank = run->live->rank, .capacity = capacity, .state = RUN_SLOT_FREE,
    };
    memcpy(head.run_id, run->run_id, sizeof head.run_id);
    /* A reader that copied the old contents sees another sequence number afterwards, hence that before anything else. */
    atomic_store_explicit((_Atomic uint64_t *)&found->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(found, &head, sizeof head);
    atomic_store_explicit((_Atomic uint64_t *)&found->sequence, ++run->sequence, memory_order_release);
    *cursor = (struct run_cursor){.chunk = found, .room = most < capacity ? most & ~7u : capacity};
    found->first_ticks = kind == RUN_KIND_META ? run->ticks() : 0;
    atomic_store_explicit((_Atomic uint32_t *)&found->state, RUN_SLOT_OPEN, memory_order_release);
    return true;
}

static void flush_chunks(struct mpitx_run *run);

void run_seal_chunk(struct mpitx_run *run, struct run_cursor *cursor)
{
    struct run_chunk *c = cursor->chunk;
    bool ring = c->kind == RUN_KIND_SAMPLES && run->policy == MPITX_RUN_KEEP_LAST && run->ring_slots;
    if (cursor->used) {
        c->last_ticks = c->kind == RUN_KIND_META ? run->ticks() : run->last_ticks;
        c->records = cursor->records;
        if (!ring)
            run->written += sizeof *c + cursor->used;
    }
    atomic_store_explicit((_Atomic uint32_t *)&c->state, cursor->used ? RUN_SLOT_SEALED : RUN_SLOT_FREE, memory_order_release);
    *cursor = (struct run_cursor){0};
    if (run->threaded) {
        sem_post(&run->wake);
        return;
    }
    struct hushed h;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    hush(&h);
    flush_chunks(run);
    unhush(&h);
    pthread_setcancelstate(cancel, NULL);
}

/* -- appending to the run directory; on our thread, or under the lock where there is none -- */

static bool write_all(int fd, const void *data, size_t n)
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

/* All processes of a node append to one file. Appending is one write, whole in itself on any file system; the lock is there
 * to take back a part of a chunk where the disk is full. Nobody waits long for it: a stopped process may hold it. */
static bool lock_file(int fd)
{
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
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

/* Opens a file of ours for writing: never through a link, never somebody else's. */
static int open_ours(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, flags | O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static bool append_chunk(struct mpitx_run *run, const struct run_chunk *c)
{
    int fd = open_ours(run->node_path, O_APPEND);
    if (fd < 0)
        return false;
    bool locked = lock_file(fd);
    off_t start = lseek(fd, 0, SEEK_END);
    bool ok = write_all(fd, c, sizeof *c + c->used);
    if (!ok && locked && start >= 0)
        (void)!ftruncate(fd, start);
    close(fd); /* and unlocks */
    return ok;
}

static bool store_in_ring(struct mpitx_run *run, const struct run_chunk *c)
{
    int fd = open_ours(run->ring_path, 0);
    if (fd < 0)
        return false;
    size_t stride = run->live->chunk_bytes;
    bool ok = lseek(fd, (off_t)(run->ring_next % run->ring_slots * stride), SEEK_SET) >= 0 && write_all(fd, c, sizeof *c + c->used);
    close(fd);
    run->ring_next += ok;
    return ok;
}

static struct run_chunk *oldest_sealed(struct mpitx_run *run)
{
    struct run_chunk *oldest = NULL;
    for (uint32_t i = 0; i < run->live->chunks; i++) {
        struct run_chunk *c = run_slot(run, i);
        if (atomic_load_explicit((_Atomic uint32_t *)&c->state, memory_order_acquire) == RUN_SLOT_SEALED &&
            (!oldest || c->sequence < oldest->sequence))
            oldest = c;
    }
    return oldest;
}

static void flush_chunks(struct mpitx_run *run)
{
    struct run_chunk *c;
    run->failing = false;
    while ((c = oldest_sealed(run))) {
        if (!c->crc)
            c->crc = crc32c(c, sizeof *c + c->used);
        bool ring = c->kind == RUN_KIND_SAMPLES && run->policy == MPITX_RUN_KEEP_LAST && run->ring_slots;
        if (!(ring ? store_in_ring(run, c) : append_chunk(run, c))) {
            run_count(run, RUN_APPEND_ERRORS, 1);
            run->failing = true; /* kept, and tried again: in the live file it is safe */
            return;
        }
        atomic_store_explicit((_Atomic uint32_t *)&c->state, RUN_SLOT_FREE, memory_order_release);
    }
}

static void *flusher(void *arg)
{
    struct mpitx_run *run = arg;
    for (;;) {
        if (run->failing) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec++;
            sem_timedwait(&run->wake, &until);
        } else {
            sem_wait(&run->wake);
        }
        bool last = atomic_load_explicit(&run->closing, memory_order_acquire);
        flush_chunks(run);
        if (last)
            break;
    }
    sem_post(&run->done);
    return NULL;
}

static void start_flusher(struct mpitx_run *run)
{
    static const size_t stacks[] = {131072, 1048576, 0}; /* a program's thread-local data take room from it */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks && !run->threaded; i++) {
        pthread_attr_t attr;
        if (pthread_attr_init(&attr))
            break;
        if (stacks[i])
            pthread_attr_setstacksize(&attr, stacks[i]);
        run->threaded = true; /* before the thread looks */
        if (pthread_create(&run->thread, &attr, flusher, run))
            run->threaded = false;
        pthread_attr_destroy(&attr);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* -- opening -- */

struct opening {
    const struct mpitx_run_options *o;
    struct mpitx_run *run;
    uint64_t stream;
    char host[65]; /* fit for file names */
    char *why;
    size_t why_len;
};

static bool failed(struct opening *op, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(op->why, op->why_len, format, args);
    va_end(args);
    return false;
}

static bool make_dir(struct opening *op)
{
    const char *dir = op->o->dir;
    struct stat st;
    if (!dir || dir[0] != '/')
        return failed(op, "the run directory is not an absolute path");
    if (strlen(dir) > PATH_MAX - 256)
        return failed(op, "the path of the run directory is too long");
    if (mkdir(dir, 0700) && errno != EEXIST)
        return failed(op, "%s: %s", dir, strerror(errno));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return failed(op, "%s: %s", dir, errno == ELOOP || errno == ENOTDIR ? "is not a directory, or a symbolic link" : strerror(errno));
    bool ours = fstat(fd, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH));
    close(fd);
    return ours || failed(op, "%s: belongs to another user, or others may write to it", dir);
}

static uint64_t random_bits(const void *salt)
{
    uint64_t x = 0;
    if (getrandom(&x, sizeof x, GRND_NONBLOCK) != sizeof x)
        x = run_monotonic() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)salt;
    return x ? x : 1;
}

/* Sizes of everything, from what was asked and what the budget allows. */
static void plan(struct opening *op, uint32_t *chunk_bytes, uint32_t *chunks)
{
    const struct mpitx_run_options *o = op->o;
    uint32_t c = o->chunk_bytes ? o->chunk_bytes : DEFAULT_CHUNK;
    uint64_t share = o->max_size ? o->max_size / (o->size > 0 ? (uint32_t)o->size : 1u) : 0;
    c = c < LEAST_CHUNK ? LEAST_CHUNK : c > MOST_CHUNK ? MOST_CHUNK : c & ~4095u;
    if (o->max_size) {
        share = share ? share : 1;
        while (c > LEAST_CHUNK && c > share / 8)
            c /= 2;
    }
    c &= ~4095u;
    *chunk_bytes = c < LEAST_CHUNK ? LEAST_CHUNK : c;
    *chunks = o->chunks ? o->chunks : DEFAULT_CHUNKS;
    *chunks = *chunks < 4 ? 4 : *chunks > 64 ? 64 : *chunks;
    op->run->share = share;
    op->run->policy = o->policy;
    if (share && o->policy == MPITX_RUN_KEEP_LAST) {
        uint64_t slots = share / *chunk_bytes;
        op->run->ring_slots = slots < 3 ? 2 : slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots - 1; /* one for declarations */
    }
}

/* Memory that we never give back piece by piece, apart from the program's allocator. */
static bool allocate(struct opening *op)
{
    uint32_t columns = op->o->max_columns ? op->o->max_columns : 4096, sets = op->o->max_sets ? op->o->max_sets : 1024;
    columns = columns > MOST_COLUMNS ? MOST_COLUMNS : columns;
    sets = sets > RUN_MOST_SETS ? RUN_MOST_SETS : sets;
    size_t head = pad8(sizeof(struct mpitx_run));
    size_t bytes = head + columns * sizeof(struct run_column_info) + sets * sizeof(struct run_set);
    struct mpitx_run *run = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED)
        return failed(op, "no memory");
    run->bytes = bytes;
    run->columns = (struct run_column_info *)(void *)((char *)run + head);
    run->sets = (struct run_set *)(void *)(run->columns + columns);
    run->most_columns = columns;
    run->most_sets = sets;
    atomic_flag_clear(&run->lock);
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        munmap(run, bytes);
        return failed(op, "no memory");
    }
    madvise(page, 4096, MADV_WIPEONFORK);
    run->alive = page;
    op->run = run;
    return true;
}

static bool make_live_file(struct opening *op, const char *dir, uint32_t chunk_bytes, uint32_t chunks)
{
    struct mpitx_run *run = op->run;
    size_t bytes = RUN_LIVE_HEADER + (size_t)chunk_bytes * chunks;
    int n = snprintf(run->live_path, sizeof run->live_path, "%s/mpitx-%016llx.live", dir, (unsigned long long)op->stream);
    if (n < 0 || (size_t)n >= sizeof run->live_path)
        return failed(op, "%s: the path is too long", dir);
    int fd = open(run->live_path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return failed(op, "%s: %s", dir, strerror(errno));
    /* Allocated before it is mapped: a page that has no room when it is touched is a SIGBUS. */
    int rc, tries = 0;
    do
        rc = posix_fallocate(fd, 0, (off_t)bytes);
    while (rc == EINTR && ++tries < 100);
    void *p = rc ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (!rc && p == MAP_FAILED)
        rc = errno;
    close(fd);
    if (rc) {
        unlink(run->live_path);
        return failed(op, "%s: %s", dir, strerror(rc));
    }
    run->live = p;
    run->live_bytes = bytes;
    return true;
}

static bool make_live(struct opening *op, uint32_t chunk_bytes, uint32_t chunks)
{
    const char *dirs[] = {"/dev/shm", getenv("TMPDIR"), "/tmp", op->o->dir};
    struct mpitx_run *run = op->run;
    bool ok = false;
    if (op->o->live_dir)
        ok = make_live_file(op, op->o->live_dir, chunk_bytes, chunks);
    for (size_t i = 0; !op->o->live_dir && i < sizeof dirs / sizeof *dirs && !ok; i++)
        ok = dirs[i] && dirs[i][0] == '/' && make_live_file(op, dirs[i], chunk_bytes, chunks);
    if (!ok)
        return false;
    struct run_live head = {
        .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .chunk_bytes = chunk_bytes, .stream = op->stream,
        .rank = op->o->rank, .pid = (uint32_t)getpid(), .chunks = chunks,
    };
    memcpy(head.run_id, op->o->run_id, sizeof head.run_id);
    memcpy(run->run_id, op->o->run_id, sizeof head.run_id);
    memcpy(run->live, &head, sizeof head);
    atomic_store_explicit((_Atomic uint64_t *)&run->live->magic, RUN_LIVE_MAGIC, memory_order_release);
    return true;
}

/* When this process started, by /proc/self/stat: a process identifier alone may be another's later. */
static uint64_t start_time(void)
{
    char text[1024];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *p = strrchr(text, ')'); /* the name may hold blanks */
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    return p ? strtoull(p + 1, NULL, 10) : 0;
}

static bool make_manifest(struct opening *op)
{
    struct mpitx_run *run = op->run;
    struct stat ns;
    union {
        struct run_manifest m;
        char bytes[sizeof(struct run_manifest) + 256 + PATH_MAX];
    } u = {.m = {.magic = RUN_MANIFEST_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof u.m, .stream = op->stream,
                 .rank = op->o->rank, .pid = (uint32_t)getpid(), .pid_start = start_time()}};
    size_t dir = strlen(op->o->dir);
    const char *host = op->o->host ? op->o->host : "", *path = run->live_path;
    if (strncmp(path, op->o->dir, dir) == 0 && path[dir] == '/')
        path += dir + 1; /* so that the directory may be moved */
    memcpy(u.m.run_id, op->o->run_id, sizeof u.m.run_id);
    u.m.pid_namespace = stat("/proc/self/ns/pid", &ns) ? 0 : ns.st_ino;
    u.m.host_bytes = (uint32_t)strnlen(host, 256);
    u.m.path_bytes = (uint32_t)strlen(path);
    memcpy(u.bytes + sizeof u.m, host, u.m.host_bytes);
    memcpy(u.bytes + sizeof u.m + u.m.host_bytes, path, u.m.path_bytes);
    u.m.bytes = (uint32_t)sizeof u.m + u.m.host_bytes + u.m.path_bytes;
    u.m.crc = crc32c(&u, u.m.bytes);
    snprintf(run->manifest_path, sizeof run->manifest_path, "%s/live-%s-%d-%08x.mpxm", op->o->dir, op->host, op->o->rank,
             (unsigned)(op->stream >> 32));
    char temporary[sizeof run->manifest_path + 4];
    snprintf(temporary, sizeof temporary, "%s.tmp", run->manifest_path); /* readers see all of it, or nothing */
    int fd = open_ours(temporary, O_EXCL);
    if (fd < 0)
        return failed(op, "%s: %s", run->manifest_path, strerror(errno));
    bool ok = write_all(fd, &u, u.m.bytes);
    int error = errno;
    close(fd);
    if (ok && rename(temporary, run->manifest_path) == 0)
        return true;
    error = ok ? errno : error;
    unlink(temporary);
    return failed(op, "%s: %s", run->manifest_path, strerror(error));
}

static void name_files(struct opening *op)
{
    struct mpitx_run *run = op->run;
    const char *host = op->o->host && op->o->host[0] ? op->o->host : "localhost";
    size_t n = 0;
    for (; host[n] && n < sizeof op->host - 1; n++) {
        char c = host[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || (c == '.' && n);
        op->host[n] = plain ? c : '_';
    }
    op->host[n] = 0;
    snprintf(run->node_path, sizeof run->node_path, "%s/node-%s.mpxr", op->o->dir, op->host);
    snprintf(run->ring_path, sizeof run->ring_path, "%s/last-%s-%d-%08x.mpxr", op->o->dir, op->host, op->o->rank,
             (unsigned)(op->stream >> 32));
}

static bool set_up(struct opening *op)
{
    uint32_t chunk_bytes, chunks;
    const struct mpitx_run_options *o = op->o;
    if (!make_dir(op) || !allocate(op))
        return false;
    struct mpitx_run *run = op->run;
    run->ticks = o->ticks ? o->ticks : run_monotonic;
    run->clock = o->ticks ? o->clock : MPITX_RUN_CLOCK_MONOTONIC;
    run->ns_per_tick = o->ticks && o->ns_per_tick > 0 ? o->ns_per_tick : 1;
    run->close_wait_ms = o->close_wait_ms ? o->close_wait_ms : 10000;
    op->stream = random_bits(run);
    plan(op, &chunk_bytes, &chunks);
    name_files(op);
    if (sem_init(&run->wake, 0, 0) || sem_init(&run->done, 0, 0))
        return failed(op, "%s", strerror(errno));
    return make_live(op, chunk_bytes, chunks) && make_manifest(op);
}

struct mpitx_run *run_store_open(const struct mpitx_run_options *options, char *why, size_t why_len)
{
    struct opening op = {.o = options, .why = why, .why_len = why_len};
    struct hushed h;
    pthread_once(&crc_once, make_crc_table);
    hush(&h);
    bool ok = set_up(&op);
    unhush(&h);
    if (!ok) {
        if (op.run)
            run_store_discard(op.run);
        return NULL;
    }
    if (!options->no_thread)
        start_flusher(op.run);
    atomic_store_explicit(op.run->alive, 1, memory_order_release);
    return op.run;
}

/* -- closing -- */

static void unmap(struct mpitx_run *run)
{
    if (run->live)
        munmap(run->live, run->live_bytes);
    munmap(run->alive, 4096);
    munmap(run, run->bytes);
}

/* Has the thread end; false where it hangs in the file system. */
static bool stop_flusher(struct mpitx_run *run)
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
    if (rc) {
        pthread_detach(run->thread);
        return false;
    }
    pthread_join(run->thread, NULL);
    return true;
}

void run_store_close(struct mpitx_run *run)
{
    if (!stop_flusher(run))
        return; /* its memory stays, for the thread */
    if (!oldest_sealed(run)) {
        unlink(run->live_path);
        unlink(run->manifest_path);
    }
    unmap(run);
}

void run_store_discard(struct mpitx_run *run)
{
    bool stopped = stop_flusher(run);
    if (run->live) {
        unlink(run->live_path);
        unlink(run->manifest_path);
    }
    if (stopped)
        unmap(run);
}

void mpitx_run_abandon_in_child(struct mpitx_run **at)
{
    struct mpitx_run *run = *at;
    *at = NULL;
    if (!run)
        return;
    atomic_store_explicit(run->alive, 0, memory_order_relaxed);
    unmap(run);
}
