/* threads.c: what threads do that are not in MPI, as the kernel says. A thread that waits on a futex without a time
 * limit waits for another thread: to join it, for a lock, or for a condition. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/where/where.h"

enum { HELPERS = 64 };

enum doing { WORKS, SLEEPS, LISTENS };

/* The library's own threads wait for input when they have nothing to do. */
static const long listening[] = {
#ifdef SYS_poll
    SYS_poll, SYS_select, SYS_epoll_wait,
#endif
    SYS_ppoll, SYS_pselect6, SYS_epoll_pwait,
};

static enum doing doing(uint32_t id)
{
    enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, WAIT_REQUEUE_PI = 11, LOCK_PI2 = 13, COMMAND = 127 }; /* futex.h */
    char name[64], text[256], *rest;
    snprintf(name, sizeof name, "/proc/self/task/%u/syscall", id);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (n <= 0 || text[0] < '0' || text[0] > '9') return WORKS; /* "running" */
    text[n] = 0;
    long number = strtol(text, &rest, 10);
    for (size_t i = 0; i < sizeof listening / sizeof *listening; i++)
        if (number == listening[i]) return LISTENS;
    if (number != SYS_futex) return WORKS;
    unsigned long arguments[4];
    for (int i = 0; i < 4; i++) arguments[i] = strtoul(rest, &rest, 16);
    unsigned long command = arguments[1] & COMMAND;
    bool waits = command == WAIT || command == WAIT_BITSET || command == LOCK_PI || command == LOCK_PI2 ||
                 command == WAIT_REQUEUE_PI;
    return waits && arguments[3] == 0 ? SLEEPS : WORKS;
}

bool threads_sleeps(uint32_t id) { return doing(id) == SLEEPS; }

/* ---- threads without a row ---- */

static uint32_t early[HELPERS], helpers[HELPERS]; /* before MPI_Init; made in it */

static bool has(const uint32_t *list, uint32_t id)
{
    for (int i = 0; i < HELPERS && list[i]; i++)
        if (list[i] == id) return true;
    return false;
}

/* Calls visit for each thread of the process. */
static void each(void (*visit)(uint32_t id, void *argument), void *argument)
{
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        uint32_t id = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (id) visit(id, argument);
    }
    if (folder) closedir(folder);
}

static void keep(uint32_t id, void *argument)
{
    uint32_t *list = argument;
    if (list != early && has(early, id)) return;
    for (int i = 0; i < HELPERS; i++)
        if (!list[i]) {
            list[i] = id;
            return;
        }
}

void threads_before_init(void) { each(keep, early); }

void threads_after_init(void) { each(keep, helpers); }

bool threads_is_helper(uint32_t id) { return has(helpers, id); }

struct count {
    bool (*known)(uint32_t id);
    uint32_t working, dormant;
};

static void count(uint32_t id, void *argument)
{
    struct count *c = argument;
    if (c->known(id) || has(helpers, id) || agent_thread_is_own(id)) return;
    bool works = doing(id) == WORKS;
    c->working += works;
    c->dormant += !works;
}

bool threads_may_call(void)
{
    enum { SERIALIZED = 2 };
    return agent_process.thread_level < 0 || agent_process.thread_level >= SERIALIZED;
}

uint32_t threads_working(bool (*known)(uint32_t id), uint32_t *dormant)
{
    struct count c = {known, 0, 0};
    if (threads_may_call()) each(count, &c);
    *dormant = c.dormant;
    return c.working;
}
