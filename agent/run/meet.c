/* meet.c: lets the processes of a job agree whether all of them do something together, such as calls that wait for all
 * others. The file "sync" has 8 bytes for the decision, and 8 for the place of each rank. Rank 0 decides for it when all
 * ranks are there. Who has waited too long decides against it. The first one to link its file as "sync-decided" wins, so
 * that all answer the same; the bytes in "sync" only spare others the wait for their file system to notice the link. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_NS UINT64_C(10000000000) /* rank 0; others wait twice as long for it */

enum { BLOCK = 512 };

struct meeting {
    const char *dir;
    int32_t rank, size;
    uint64_t place;
    char path[PATH_MAX];
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

/* Counts the ranks up to `most` that are there. places: with another place than the own one; before: with the own one,
 * and a lower rank. */
static int32_t present(const struct meeting *m, int32_t *others, int32_t *before)
{
    uint64_t block[BLOCK];
    int32_t there = 0;
    *others = *before = 0;
    int fd = run_open_ours(m->path, 0);
    if (fd < 0) return 0;
    for (int32_t rank = 0; rank < m->size;) {
        ssize_t got = pread(fd, block, sizeof block, slot(rank));
        if (got < 8) break;
        for (int i = 0; i < (int)(got / 8) && rank < m->size; i++, rank++) {
            there += block[i] != 0;
            *others += block[i] != 0 && block[i] != m->place;
            *before += block[i] == m->place && rank < m->rank;
        }
    }
    close(fd);
    return there;
}

static uint64_t decided(const struct meeting *m)
{
    uint64_t decision = 0;
    int fd = run_open_ours(m->path, 0);
    if (fd < 0) return 0;
    if (pread(fd, &decision, sizeof decision, 0) != (ssize_t)sizeof decision) decision = 0;
    close(fd);
    return decision;
}

/* Decides, unless others have. Returns what counts. */
static uint64_t decide(const struct meeting *m, uint64_t decision)
{
    char own[PATH_MAX + 32], common[PATH_MAX + 32];
    snprintf(own, sizeof own, "%s-%d", m->path, (int)m->rank);
    snprintf(common, sizeof common, "%s-decided", m->path);
    int fd = run_open_ours(own, O_TRUNC);
    bool written = fd >= 0 && run_write_all(fd, &decision, sizeof decision);
    if (fd >= 0 && close(fd) != 0) written = false;
    if (!written || link(own, common) != 0) {
        decision = MPITX_RUN_MEET_NOT;
        fd = open(common, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0) {
            uint64_t other;
            if (read(fd, &other, sizeof other) == (ssize_t)sizeof other) decision = other;
            close(fd);
        }
    }
    unlink(own);
    put(m, 0, decision);
    return decision;
}

static uint64_t wait_for_all(const struct meeting *m)
{
    const struct timespec pause = {0, 1000000};
    uint64_t start = run_monotonic(), decision = 0;
    int32_t others, before;
    if (m->rank == 0) {
        while (present(m, &others, &before) < m->size && run_monotonic() - start < WAIT_NS)
            syscall(SYS_nanosleep, &pause, NULL);
        int32_t there = present(m, &others, &before);
        return decide(m, there < m->size ? MPITX_RUN_MEET_NOT : others ? MPITX_RUN_MEET : MPITX_RUN_MEET_ONE_PLACE);
    }
    while (!(decision = decided(m)) && run_monotonic() - start < 2 * WAIT_NS) syscall(SYS_nanosleep, &pause, NULL);
    return decision ? decision : decide(m, MPITX_RUN_MEET_NOT);
}

enum mpitx_run_meeting mpitx_run_meet(const char *dir, int32_t rank, int32_t size, uint64_t place, bool *first)
{
    struct meeting m = {.dir = dir, .rank = rank, .size = size, .place = place ? place : 1};
    struct run_signals signals;
    int saved = errno;
    int32_t others, before;
    uint64_t decision = MPITX_RUN_MEET_NOT;
    *first = false;
    if (rank < 0 || rank >= size || snprintf(m.path, sizeof m.path, "%s/sync", dir) >= (int)sizeof m.path) return MPITX_RUN_MEET_NOT;
    run_block_sigxfsz(&signals);
    if (put(&m, slot(rank), m.place)) decision = wait_for_all(&m);
    if (decision == MPITX_RUN_MEET) {
        present(&m, &others, &before);
        *first = before == 0;
    }
    run_restore_sigxfsz(&signals);
    errno = saved;
    return decision == MPITX_RUN_MEET || decision == MPITX_RUN_MEET_ONE_PLACE ? (enum mpitx_run_meeting)decision : MPITX_RUN_MEET_NOT;
}
