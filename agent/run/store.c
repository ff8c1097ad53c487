/* store.c: the files of a run: its directory, the live file, the manifest. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include "binding/procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_CHUNK 65536u
#define MIN_CHUNK 8192u /* if the budget allows no larger ones */
#define MAX_CHUNK 524288u
#define DEFAULT_CHUNKS 6u
#define MAX_COLUMNS (1u << 20)
#define MAX_THREADS 65535u /* a chain's number has 16 bits */
#define DEFAULT_POOL (32u << 20)
_Static_assert(RUN_COUNTERS - RUN_LACKS == sizeof(struct agent_lacks) / sizeof(uint64_t), "the last counters");

#define USUAL_GROWTH ((uint64_t)4 << 20) /* of a process's live files */

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* ---- opening ---- */

struct opening {
    const struct mpitx_run_options *o;
    struct mpitx_run *run;
    uint64_t stream;
    char host[65]; /* for file names */
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
    if (!dir || dir[0] != '/') return failed(op, "the run directory is not an absolute path");
    if (strlen(dir) > PATH_MAX - 256) return failed(op, "the path of the run directory is too long");
    if (mkdir(dir, 0700) && errno != EEXIST) return failed(op, "%s: %s", dir, strerror(errno));
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return failed(op, "%s: %s", dir,
                      errno == ELOOP || errno == ENOTDIR ? "not a directory, or a symbolic link" : strerror(errno));
    bool ours = fstat(fd, &st) == 0 && (st.st_uid == geteuid() || geteuid() == 0) &&
                !(st.st_mode & (S_IWGRP | S_IWOTH));
    close(fd);
    return ours || failed(op, "%s: it belongs to another user, or others may write to it", dir);
}

static uint64_t random_bits(const void *salt)
{
    uint64_t x = 0;
    if (getrandom(&x, sizeof x, GRND_NONBLOCK) != sizeof x)
        x = run_monotonic() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid() << 40 ^ (uint64_t)(uintptr_t)salt;
    return x ? x : 1;
}

/* Chooses the sizes from the options and the budget. */
static void plan(struct opening *op, uint32_t *chunk_bytes, uint32_t *chunks)
{
    const struct mpitx_run_options *o = op->o;
    uint32_t c = o->chunk_bytes ? o->chunk_bytes : DEFAULT_CHUNK;
    uint64_t share = o->max_size ? o->max_size / (o->size > 0 ? (uint32_t)o->size : 1u) : 0;
    c = c < MIN_CHUNK ? MIN_CHUNK : c > MAX_CHUNK ? MAX_CHUNK : c & ~4095u;
    if (o->max_size) {
        share = share ? share : 1;
        while (c > MIN_CHUNK && c > share / 8) c /= 2;
    }
    c &= ~4095u;
    *chunk_bytes = c < MIN_CHUNK ? MIN_CHUNK : c;
    *chunks = o->chunks ? o->chunks : DEFAULT_CHUNKS;
    *chunks = *chunks < 4 ? 4 : *chunks > 64 ? 64 : *chunks;
    op->run->share = share;
    op->run->policy = o->policy;
    if (share && o->policy == MPITX_RUN_KEEP_LAST) {
        uint64_t slots = share / *chunk_bytes;
        /* one for declarations */
        op->run->ring_slots = slots < 3 ? 2 : slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots - 1;
    }
}

/* Allocates all memory at once, separate from the program's allocator. */
static bool allocate(struct opening *op)
{
    uint32_t columns = op->o->max_columns ? op->o->max_columns : 4096, sets = op->o->max_sets ? op->o->max_sets : 1024;
    columns = columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
    sets = sets > RUN_MAX_SETS ? RUN_MAX_SETS : sets;
    uint32_t threads = op->o->max_threads ? op->o->max_threads : 1024;
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    size_t head = (sizeof(struct mpitx_run) + 63) & ~(size_t)63;
    size_t bytes = head + threads * sizeof(struct run_thread) + RUN_MAX_TABLES * sizeof(struct run_table) +
                   RUN_MAX_MODULES * sizeof *op->run->modules + columns * sizeof(struct run_column_info) +
                   sets * sizeof(struct run_set) + RUN_MAX_EVENTS * sizeof *op->run->event_bytes;
    struct mpitx_run *run = map_memory(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED) return failed(op, "out of memory");
    run->bytes = bytes;
    run->threads = (struct run_thread *)(void *)((char *)run + head);
    run->tables = (struct run_table *)(void *)(run->threads + threads);
    run->modules = (uint64_t *)(void *)(run->tables + RUN_MAX_TABLES);
    run->sets = (struct run_set *)(void *)(run->modules + RUN_MAX_MODULES);
    run->columns = (struct run_column_info *)(void *)(run->sets + sets);
    run->event_bytes = (uint32_t *)(void *)(run->columns + columns);
    run->max_threads = threads;
    run->pool.max_bytes = op->o->pool_bytes ? op->o->pool_bytes : DEFAULT_POOL;
    run->max_columns = columns;
    run->max_sets = sets;
    atomic_flag_clear(&run->lock);
    void *page = map_memory(4096, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        unmap_memory(run, bytes);
        return failed(op, "out of memory");
    }
    syscall(SYS_madvise, page, 4096, MADV_WIPEONFORK);
    run->alive = page;
    op->run = run;
    return true;
}

static bool make_live_file(struct opening *op, const char *dir, uint32_t chunk_bytes, uint32_t chunks)
{
    struct mpitx_run *run = op->run;
    size_t bytes = RUN_LIVE_HEADER + (size_t)chunk_bytes * chunks;
    int n = snprintf(run->live_path, sizeof run->live_path, "%s/mpitx-%016llx.live", dir,
                     (unsigned long long)op->stream);
    if (n < 0 || (size_t)n >= sizeof run->live_path) return failed(op, "%s: the path is too long", dir);
    run->live = run_map_new(run->live_path, bytes);
    if (!run->live) return failed(op, "%s: %s", dir, strerror(errno));
    run->live_bytes = run->file_bytes = bytes;
    return true;
}

static uint64_t pid_namespace(void)
{
    struct stat ns;
    return stat("/proc/self/ns/pid", &ns) ? 0 : ns.st_ino;
}

/* Stores the owner, so that a live file without its run directory can be recognized. */
static void sign_live(struct opening *op)
{
    struct run_owner owner = {.pid_start = procstat_read(0).start, .pid_namespace = pid_namespace(),
                              .dir_bytes = (uint32_t)strlen(op->o->dir)};
    char *at = (char *)op->run->live + RUN_OWNER_AT;
    if (owner.dir_bytes > RUN_LIVE_HEADER - RUN_OWNER_AT - sizeof owner) owner.dir_bytes = 0;
    memcpy(at + sizeof owner, op->o->dir, owner.dir_bytes);
    memcpy(at, &owner, sizeof owner);
}

static bool make_live(struct opening *op, uint32_t chunk_bytes, uint32_t chunks)
{
    const char *dirs[] = {"/dev/shm", getenv("TMPDIR"), "/tmp", op->o->dir};
    struct mpitx_run *run = op->run;
    bool ok = false;
    run->live_given = op->o->live_dir != NULL;
    if (op->o->live_dir) ok = make_live_file(op, op->o->live_dir, chunk_bytes, chunks);
    for (size_t i = 0; !op->o->live_dir && i < sizeof dirs / sizeof *dirs && !ok; i++)
        ok = dirs[i] && dirs[i][0] == '/' &&
             (dirs[i] == op->o->dir || run_leaves_room(dirs[i], (uint64_t)chunk_bytes * chunks + USUAL_GROWTH, 2)) &&
             make_live_file(op, dirs[i], chunk_bytes, chunks);
    if (!ok) return false;
    struct run_live head = {
        .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .chunk_bytes = chunk_bytes, .stream = op->stream,
        .rank = op->o->rank, .pid = (uint32_t)getpid(), .chunks = chunks,
    };
    memcpy(head.run_id, op->o->run_id, sizeof head.run_id);
    memcpy(run->run_id, op->o->run_id, sizeof head.run_id);
    memcpy(run->live, &head, sizeof head);
    sign_live(op);
    atomic_store_explicit((_Atomic uint64_t *)&run->live->magic, RUN_LIVE_MAGIC, memory_order_release);
    return true;
}

void run_boot_id(char *id, size_t len)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, id, len - 1);
    if (fd >= 0) close(fd);
    id[n > 0 ? n : 0] = 0;
    id[strcspn(id, "\n")] = 0;
}

static bool make_manifest(struct opening *op)
{
    struct mpitx_run *run = op->run;
    union {
        struct run_manifest m;
        char bytes[sizeof(struct run_manifest) + 256 + PATH_MAX];
    } u = {.m = {.magic = RUN_MANIFEST_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof u.m,
                 .stream = op->stream,
                 .rank = op->o->rank, .pid = (uint32_t)getpid(), .pid_start = procstat_read(0).start}};
    size_t dir = strlen(op->o->dir);
    const char *host = op->o->host ? op->o->host : "", *path = run->live_path;
    if (strncmp(path, op->o->dir, dir) == 0 && path[dir] == '/')
        path += dir + 1; /* relative, so that the directory can be moved */
    memcpy(u.m.run_id, op->o->run_id, sizeof u.m.run_id);
    u.m.pid_namespace = pid_namespace();
    run_boot_id(u.m.boot_id, sizeof u.m.boot_id);
    u.m.host_bytes = (uint32_t)strnlen(host, 256);
    u.m.path_bytes = (uint32_t)strlen(path);
    memcpy(u.bytes + sizeof u.m, host, u.m.host_bytes);
    memcpy(u.bytes + sizeof u.m + u.m.host_bytes, path, u.m.path_bytes);
    u.m.bytes = (uint32_t)sizeof u.m + u.m.host_bytes + u.m.path_bytes;
    u.m.crc = run_crc32c(0, &u, u.m.bytes);
    snprintf(run->manifest_path, sizeof run->manifest_path, "%s/live-%s-%d-%08x.mpxm", op->o->dir, op->host,
             op->o->rank, (unsigned)(op->stream >> 32));
    char temporary[sizeof run->manifest_path + 4];
    snprintf(temporary, sizeof temporary, "%s.tmp", run->manifest_path); /* renamed, so that readers never see a part */
    int fd = run_open_ours(temporary, O_EXCL);
    if (fd < 0) return failed(op, "%s: %s", op->o->dir, strerror(errno));
    bool ok = run_write_all(fd, &u, u.m.bytes);
    int error = errno;
    close(fd);
    if (ok && rename(temporary, run->manifest_path) == 0) return true;
    error = ok ? errno : error;
    unlink(temporary);
    return failed(op, "%s: %s", op->o->dir, strerror(error));
}

static void name_files(struct opening *op)
{
    struct mpitx_run *run = op->run;
    const char *host = op->o->host && op->o->host[0] ? op->o->host : "localhost";
    size_t n = 0;
    for (; host[n] && n < sizeof op->host - 1; n++) {
        char c = host[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                     (c == '.' && n);
        op->host[n] = plain ? c : '_';
    }
    op->host[n] = 0;
    snprintf(run->node_path, sizeof run->node_path, "%s/node-%s.mpxr", op->o->dir, op->host);
    snprintf(run->ring_path, sizeof run->ring_path, "%s/last-%s-%d-%08x.mpxr", op->o->dir, op->host, op->o->rank,
             (unsigned)(op->stream >> 32));
    snprintf(run->tail_path, sizeof run->tail_path, "%s/tail-%s-%d-%08x.mpxt", op->o->dir, op->host, op->o->rank,
             (unsigned)(op->stream >> 32));
}

static bool set_up(struct opening *op)
{
    uint32_t chunk_bytes, chunks;
    const struct mpitx_run_options *o = op->o;
    if (!make_dir(op)) return false;
    if (o->claims && !run_claim(o->dir, o->rank))
        return failed(op, "another process of rank %d is recorded already", o->rank);
    if (!allocate(op)) return false;
    struct mpitx_run *run = op->run;
    run->ticks = o->ticks ? o->ticks : run_monotonic;
    run->clock = o->ticks ? o->clock : MPITX_RUN_CLOCK_MONOTONIC;
    run->ns_per_tick = o->ticks && o->ns_per_tick > 0 ? o->ns_per_tick : 1;
    run->skew = o->skew;
    run->job_start_ns = o->job_start_ns;
    run->close_wait_ms = o->close_wait_ms ? o->close_wait_ms : 10000;
    op->stream = random_bits(run);
    plan(op, &chunk_bytes, &chunks);
    name_files(op);
    if (sem_init(&run->wake, 0, 0) || sem_init(&run->done, 0, 0)) return failed(op, "%s", strerror(errno));
    return make_live(op, chunk_bytes, chunks) && make_manifest(op);
}

struct mpitx_run *run_store_open(const struct mpitx_run_options *options, char *why, size_t why_len)
{
    struct opening op = {.o = options, .why = why, .why_len = why_len};
    struct run_signals h;
    run_crc_start();
    run_block_sigxfsz(&h);
    bool ok = set_up(&op);
    run_restore_sigxfsz(&h);
    if (!ok) {
        if (op.run) run_store_discard(op.run);
        return NULL;
    }
    if (!options->no_thread) run_start_flusher(op.run);
    atomic_store_explicit(op.run->alive, 1, memory_order_release);
    return op.run;
}

/* ---- closing ---- */

static void unmap(struct mpitx_run *run)
{
    agent_lacks_move(NULL);
    if (run->live) unmap_memory(run->live, run->live_bytes);
    run_last_unmap(run);
    run_pool_unmap(run);
    unmap_memory(run->alive, 4096);
    unmap_memory(run, run->bytes);
}

void run_store_close(struct mpitx_run *run, bool tidy)
{
    if (!run_stop_flusher(run, tidy)) return; /* the thread still uses the memory */
    if (!run->threaded) run_finish_files(run);
    if (tidy) unmap(run);
}

void run_store_discard(struct mpitx_run *run)
{
    bool stopped = run_stop_flusher(run, true);
    if (run->live) run_remove_live(run);
    if (stopped) unmap(run);
}

void mpitx_run_abandon_in_child(struct mpitx_run **at)
{
    struct mpitx_run *run = *at;
    *at = NULL;
    if (!run) return;
    atomic_store_explicit(run->alive, 0, memory_order_relaxed);
    unmap(run);
}
