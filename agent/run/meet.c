/* meet.c: lets the processes of a job agree whether some of them do something together that waits for all of these. The
 * file "sync" has 8 bytes for the decision, and 8 for the place of each rank. Rank 0 decides for it when all ranks are
 * there. Who has waited too long decides against it. The first one to link its file as "sync-decided" wins, so that all
 * answer the same; the bytes in "sync" only spare others the wait for their file system to notice the link. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_NS UINT64_C(10000000000) /* rank 0; others wait twice as long for it */

enum { BLOCK = 512, KNOWN = 4 * MPITX_RUN_PLACES };

struct meeting {
    int32_t rank, size;
    uint64_t place;
    char path[PATH_MAX];
};

struct decision {
    uint64_t what; /* enum mpitx_run_meeting; 0: none yet */
    uint32_t count, reserved;
    int32_t firsts[MPITX_RUN_PLACES];
};

static int64_t slot(int32_t rank) { return 8 * ((int64_t)rank + 1); }

/* A file is opened again each time: network file systems look then whether others have changed it. */
static bool put(const struct meeting *m, int64_t at, uint64_t value)
{
    int fd = run_open_ours(m->path, 0);
    if (fd < 0) return false;
    bool written = pwrite(fd, &value, sizeof value, at) == (ssize_t)sizeof value;
    return close(fd) == 0 && written;
}

static uint64_t get(const struct meeting *m)
{
    uint64_t value = 0;
    int fd = run_open_ours(m->path, 0);
    if (fd < 0) return 0;
    if (pread(fd, &value, sizeof value, 0) != (ssize_t)sizeof value) value = 0;
    close(fd);
    return value;
}

/* Adds a rank to the first ones of their places, if its place is new. */
static void add_place(struct decision *d, uint64_t known[KNOWN], uint64_t place, int32_t rank)
{
    uint64_t i = (place ^ place >> 32) % KNOWN;
    while (known[i] && known[i] != place) i = (i + 1) % KNOWN;
    if (known[i] || d->count == MPITX_RUN_PLACES) return;
    known[i] = place;
    d->firsts[d->count++] = rank;
}

/* Whether all ranks are there. */
static bool all_present(const struct meeting *m, struct decision *d)
{
    static uint64_t known[KNOWN];
    uint64_t block[BLOCK];
    int32_t rank = 0;
    memset(known, 0, sizeof known);
    d->count = 0;
    int fd = run_open_ours(m->path, 0);
    if (fd < 0) return false;
    for (bool there = true; there && rank < m->size;) {
        ssize_t got = pread(fd, block, sizeof block, slot(rank));
        there = got >= 8;
        for (int i = 0; there && i < (int)(got / 8) && rank < m->size; i++) {
            there = block[i] != 0;
            if (there) add_place(d, known, block[i], rank++);
        }
    }
    close(fd);
    return rank == m->size;
}

static bool read_decision(const char *path, struct decision *d)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;
    bool whole = read(fd, d, sizeof *d) == (ssize_t)sizeof *d && d->count <= MPITX_RUN_PLACES;
    close(fd);
    return whole;
}

/* Decides, unless others have. What counts is in d afterwards. */
static void decide(const struct meeting *m, struct decision *d)
{
    char own[PATH_MAX + 32], common[PATH_MAX + 32];
    snprintf(own, sizeof own, "%s-%d", m->path, (int)m->rank);
    snprintf(common, sizeof common, "%s-decided", m->path);
    int fd = run_open_ours(own, O_TRUNC);
    bool written = fd >= 0 && run_write_all(fd, d, sizeof *d);
    if (fd >= 0 && close(fd) != 0) written = false;
    if ((!written || link(own, common) != 0) && !read_decision(common, d)) d->what = MPITX_RUN_MEET_NOT;
    unlink(own);
    put(m, 0, d->what);
}

static void wait_for_all(const struct meeting *m, struct decision *d)
{
    const struct timespec pause = {0, 1000000};
    uint64_t start = run_monotonic();
    char common[PATH_MAX + 32];
    d->what = MPITX_RUN_MEET_NOT;
    if (m->rank == 0) {
        bool all;
        while (!(all = all_present(m, d)) && run_monotonic() - start < WAIT_NS) syscall(SYS_nanosleep, &pause, NULL);
        if (all) d->what = d->count > 1 ? MPITX_RUN_MEET : MPITX_RUN_MEET_ONE_PLACE;
        decide(m, d);
        return;
    }
    while (!get(m) && run_monotonic() - start < 2 * WAIT_NS) syscall(SYS_nanosleep, &pause, NULL);
    snprintf(common, sizeof common, "%s-decided", m->path);
    if (!read_decision(common, d)) {
        d->what = MPITX_RUN_MEET_NOT;
        decide(m, d);
    }
}

enum mpitx_run_meeting mpitx_run_meet(const char *dir, int32_t rank, int32_t size, uint64_t place,
                                      const int32_t **firsts, int *count)
{
    static struct decision d;
    struct meeting m = {.rank = rank, .size = size, .place = place ? place : 1};
    struct run_signals signals;
    int saved = errno;
    *count = 0;
    d.what = MPITX_RUN_MEET_NOT;
    if (rank < 0 || rank >= size || snprintf(m.path, sizeof m.path, "%s/sync", dir) >= (int)sizeof m.path)
        return MPITX_RUN_MEET_NOT;
    run_block_sigxfsz(&signals);
    if (put(&m, slot(rank), m.place)) wait_for_all(&m, &d);
    run_restore_sigxfsz(&signals);
    errno = saved;
    if (d.what != MPITX_RUN_MEET && d.what != MPITX_RUN_MEET_ONE_PLACE) return MPITX_RUN_MEET_NOT;
    *firsts = d.firsts;
    *count = (int)d.count;
    return (enum mpitx_run_meeting)d.what;
}
