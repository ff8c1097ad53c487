/* processor.c: reads the times of threads, and their cores. */
#define _GNU_SOURCE
#include "base/processor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/clock.h"

enum { THREADS = 256 };

static uint64_t time_of(clockid_t clock)
{
    struct timespec time;
    if (syscall(SYS_clock_gettime, clock, &time) != 0) return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t processor_thread_time(void) { return time_of(CLOCK_THREAD_CPUTIME_ID); }
uint64_t processor_process_time(void) { return time_of(CLOCK_PROCESS_CPUTIME_ID); }

/* Reads a small file; the length, or -1. */
static ssize_t read_file(const char *name, char *text, size_t size)
{
    int saved = errno, file = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) close(file);
    errno = saved;
    text[n > 0 ? n : 0] = 0;
    return n;
}

bool processor_thread_wait(uint32_t id, uint64_t *wait)
{
    char name[64], text[128], *end;
    snprintf(name, sizeof name, "/proc/self/task/%u/schedstat", id);
    if (read_file(name, text, sizeof text) <= 0) return false;
    strtoull(text, &end, 10);
    if (*end != ' ') return false;
    *wait = strtoull(end + 1, NULL, 10);
    return true;
}

bool processor_waits_known(void)
{
    static int known; /* 1: yes; -1: no */
    int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
    uint64_t wait;
    if (now == 0) {
        now = processor_thread_wait((uint32_t)syscall(SYS_gettid), &wait) ? 1 : -1;
        __atomic_store_n(&known, now, __ATOMIC_RELAXED);
    }
    return now > 0;
}

struct processor_switches processor_thread_switches(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) != 0) return (struct processor_switches){0};
    return (struct processor_switches){(uint64_t)usage.ru_nvcsw, (uint64_t)usage.ru_nivcsw};
}

/* ---- all threads of the process ---- */

static struct {
    uint32_t id;
    bool seen;
    uint64_t wait;
} threads[THREADS];
static unsigned thread_count;
static uint64_t ended; /* what threads have waited that are gone */

static void read_thread(uint32_t id)
{
    uint64_t wait;
    unsigned i = 0;
    if (agent_thread_is_own(id) || !processor_thread_wait(id, &wait)) return;
    while (i < thread_count && threads[i].id != id) i++;
    if (i == THREADS) return;
    if (i == thread_count) {
        threads[thread_count++].id = id;
        threads[i].wait = 0;
    }
    if (wait < threads[i].wait) ended += threads[i].wait; /* another thread has its number */
    threads[i].wait = wait;
    threads[i].seen = true;
}

static void forget_ended(void)
{
    for (unsigned i = 0; i < thread_count;) {
        if (threads[i].seen) {
            threads[i++].seen = false;
            continue;
        }
        ended += threads[i].wait;
        threads[i] = threads[--thread_count];
    }
}

static void read_threads(void)
{
    struct entry {
        uint64_t inode, offset;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    char text[4096] __attribute__((aligned(8)));
    int saved = errno, folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    for (long n; (n = syscall(SYS_getdents64, folder, text, sizeof text)) > 0;)
        for (long at = 0; at < n;) {
            const struct entry *entry = (const struct entry *)(const void *)(text + at);
            uint32_t id = (uint32_t)strtoul(entry->name, NULL, 10);
            if (id) read_thread(id);
            at += entry->length;
        }
    close(folder);
    errno = saved;
    forget_ended();
}

/* The time that the process did not run, if the kernel has interrupted it. */
static uint64_t most(void)
{
    static uint64_t first_time, first_used;
    struct rusage usage;
    uint64_t now = clock_kernel(), used = processor_process_time();
    if (!first_time) {
        first_time = now;
        first_used = used;
    }
    if (getrusage(RUSAGE_SELF, &usage) != 0 || usage.ru_nivcsw == 0 || now - first_time < used - first_used) return 0;
    return now - first_time - (used - first_used);
}

uint64_t processor_process_wait(bool read)
{
    static uint64_t last, next;
    static bool busy;
    enum { LEAST_NS = 1000000, PARTS = 100 };
    uint64_t now = clock_kernel(), sum = 0, value;
    if ((!read && now < __atomic_load_n(&next, __ATOMIC_RELAXED)) || __atomic_exchange_n(&busy, true, __ATOMIC_ACQUIRE))
        return __atomic_load_n(&last, __ATOMIC_RELAXED);
    if (processor_waits_known()) {
        read_threads();
        for (unsigned i = 0; i < thread_count; i++) sum += threads[i].wait;
        value = sum + ended;
    } else {
        value = most();
    }
    if (value > last) __atomic_store_n(&last, value, __ATOMIC_RELAXED);
    uint64_t took = PARTS * (clock_kernel() - now);
    __atomic_store_n(&next, now + (took > LEAST_NS ? took : LEAST_NS), __ATOMIC_RELAXED);
    __atomic_store_n(&busy, false, __ATOMIC_RELEASE);
    return last;
}

/* ---- cores ---- */

uint32_t processor_cores(uint64_t cores[PROCESSOR_WORDS])
{
    uint64_t all[PROCESSOR_WORDS * 8]; /* the kernel refuses a set that is too small */
    uint32_t count = 0;
    memset(all, 0, sizeof all);
    memset(cores, 0, PROCESSOR_WORDS * sizeof *cores);
    if (syscall(SYS_sched_getaffinity, 0, sizeof all, all) <= 0) return 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) count += (uint32_t)__builtin_popcountll(all[i]);
    memcpy(cores, all, PROCESSOR_WORDS * sizeof *cores);
    return count;
}

/* The limit of one group; 0: none. Version 2 writes both numbers to one file, version 1 to two. */
static double limit_of(const char *group)
{
    char name[512], text[128], *end;
    snprintf(name, sizeof name, "%.400s/cpu.max", group);
    if (read_file(name, text, sizeof text) > 0) {
        double quota = strtod(text, &end), period = strtod(end, NULL);
        return quota > 0 && period > 0 ? quota / period : 0; /* "max": no limit */
    }
    snprintf(name, sizeof name, "%.400s/cpu.cfs_quota_us", group);
    double quota = read_file(name, text, sizeof text) > 0 ? strtod(text, NULL) : 0;
    snprintf(name, sizeof name, "%.400s/cpu.cfs_period_us", group);
    double period = read_file(name, text, sizeof text) > 0 ? strtod(text, NULL) : 0;
    return quota > 0 && period > 0 ? quota / period : 0;
}

/* A control group and its parents. In a container, the path may be the host's; the mounted directory is its group. */
static void look_up(const char *mount, const char *path, double *least, uint64_t *group)
{
    char folder[400];
    size_t root = strlen(mount);
    snprintf(folder, sizeof folder, "%s%s", mount, path);
    for (;;) {
        double limit = limit_of(folder);
        if (limit > 0 && (*least == 0 || limit < *least)) {
            *least = limit;
            *group = 1469598103934665603u;
            for (const char *c = folder; *c; c++) *group = (*group ^ (uint8_t)*c) * 1099511628211u;
        }
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < root) break;
        *slash = 0;
    }
}

double processor_quota(uint64_t *group)
{
    char text[4096], *rest;
    double least = 0;
    *group = 0;
    if (read_file("/proc/self/cgroup", text, sizeof text) <= 0) return 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = 0;
        if (controllers[1] == 0) look_up("/sys/fs/cgroup", path, &least, group);
        if (strstr(controllers, "cpu,") || strstr(controllers, ",cpu") || strcmp(controllers, ":cpu") == 0) {
            look_up("/sys/fs/cgroup/cpu", path, &least, group);
            look_up("/sys/fs/cgroup/cpu,cpuacct", path, &least, group);
        }
    }
    return least;
}
