/* file.c: the system: signals of files, opening, writing and mapping them, times. */
#define _GNU_SOURCE
#include "base/map.h"
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define TMPFS_MAGIC 0x01021994
#define MOST_LEFT ((uint64_t)256 << 20)

/* ---- signals ---- */

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
        while (sigtimedwait(&xfsz, NULL, &none) < 0 && errno == EINTR) ;
    /* SIG_SETMASK would unblock the signal of the sampler's timers too, because glibc reserves it for itself. */
    if (sigismember(&h->mask, SIGXFSZ) == 0) pthread_sigmask(SIG_UNBLOCK, &xfsz, NULL);
}

/* ---- files ---- */

int run_open_ours(const char *path, int flags)
{
    struct stat st;
    int fd = open(path, flags | O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
    if (fd < 0) return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

bool run_write_all(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0 && errno == EINTR) continue;
        if (k <= 0) return false;
        p += k;
        n -= (size_t)k;
    }
    return true;
}

int run_allocate_file(int fd, size_t at, size_t bytes)
{
    int rc, tries = 0;
    do rc = posix_fallocate(fd, (off_t)at, (off_t)bytes);
    while (rc == EINTR && ++tries < 100);
    return rc;
}

void *run_map_new(const char *path, size_t bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return NULL;
    /* Allocated before mapping: touching a page without disk space would raise SIGBUS. */
    int rc = run_allocate_file(fd, 0, bytes);
    void *p = rc ? MAP_FAILED : map_memory(bytes, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (!rc && p == MAP_FAILED) rc = errno;
    close(fd);
    if (!rc) return p;
    unlink(path);
    errno = rc;
    return NULL;
}

/* The program's shared memory may be in the same file system (Open MPI's grows). Without room its next touch raises
 * SIGBUS. */
bool run_leaves_room(const char *path, uint64_t bytes, unsigned share)
{
    struct statfs s;
    if (statfs(path, &s) || s.f_type != TMPFS_MAGIC || !s.f_blocks) /* no blocks: no limit */
        return true;
    uint64_t left = (uint64_t)s.f_blocks * (uint64_t)s.f_bsize / share;
    if ((uint64_t)s.f_bavail * (uint64_t)s.f_bsize >= bytes + (left < MOST_LEFT ? left : MOST_LEFT)) return true;
    errno = ENOSPC;
    return false;
}

/* ---- clocks ---- */

static int64_t nanoseconds(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

uint64_t run_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)nanoseconds(t);
}

/* Asks the kernel, as a preloaded library, such as libfaketime, may change what clock_gettime returns. */
static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    syscall(SYS_clock_gettime, id, &t);
    return nanoseconds(t);
}

/* Takes the tightest of five readings of all clocks. */
uint64_t run_read_clocks(const struct mpitx_run *run, struct run_clock_body *best)
{
    uint64_t at = 0, width = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t t0 = run->ticks();
        int64_t m0 = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME), m1 = clock_ns(CLOCK_MONOTONIC);
        uint64_t t1 = run->ticks();
        if (t1 - t0 >= width) continue;
        width = t1 - t0;
        int64_t mono = m0 + (m1 - m0) / 2;
        if (run->clock == MPITX_RUN_CLOCK_MONOTONIC) mono = (int64_t)(t0 + width / 2);
        at = t0 + width / 2;
        int64_t ahead = run->skew.ahead_ns + (int64_t)((double)(real - run->job_start_ns) * run->skew.rate);
        real += ahead;
        if (run->clock != MPITX_RUN_CLOCK_MONOTONIC) mono += ahead;
        *best = (struct run_clock_body){mono, real, (double)width * run->ns_per_tick / 2};
    }
    return at;
}
