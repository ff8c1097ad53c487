/* outside.c: what threads do that are not in MPI: whether they sleep, in which system call, and whether other threads
 * of the process compute meanwhile. A thread sleeps if two looks find it asleep, the last one within a second, and it
 * has used little of the processor in this second, or between two such looks in a row. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/objects/objects.h"
#include "tools/where/where.h"

#define WINDOW_NS UINT64_C(1000000000)
#define LONG_SLICE_NS UINT64_C(500000)
enum { OWN_SHARE = 10, OTHERS_SHARE = 40 }; /* using less than such a part of the time is little */

/* ---- files of the kernel ---- */

static bool read_file(uint32_t id, const char *name, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%u/%s", id, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) close(file);
    text[n > 0 ? n : 0] = 0;
    return n > 0;
}

struct times {
    uint64_t cpu, waited; /* on the processor, and for it; in ns */
    uint64_t slices;      /* how often it got it */
};

static bool processor_times(uint32_t id, struct times *times)
{
    char text[96], *rest;
    if (!read_file(id, "schedstat", text, sizeof text)) return false;
    times->cpu = strtoull(text, &rest, 10);
    times->waited = strtoull(rest, &rest, 10);
    times->slices = strtoull(rest, NULL, 10);
    return true;
}

/* The processor time of a thread in ns; false: unknown. */
static bool processor_time(uint32_t id, uint64_t *ns)
{
    struct times times;
    bool known = processor_times(id, &times);
    if (known) *ns = times.cpu;
    return known;
}

static bool is_asleep(uint32_t id)
{
    char text[512];
    const char *name_end = read_file(id, "stat", text, sizeof text) ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] == ' ' && strchr("SDI", name_end[2]);
}

/* ---- the kernel's words ---- */

struct word {
    long number;
    const char *text;
};

#define WORD(name) {SYS_##name, #name}
static const struct word words[] = {
#ifdef SYS_poll
    WORD(poll), WORD(select), WORD(epoll_wait), WORD(pause), {SYS_accept, "accept"}, {SYS_open, "open"},
#endif
    WORD(futex), {SYS_ppoll, "poll"}, {SYS_pselect6, "select"}, {SYS_epoll_pwait, "epoll_wait"},
        {SYS_nanosleep, "nanosleep"},
    {SYS_clock_nanosleep, "nanosleep"}, WORD(read), WORD(write), WORD(readv), WORD(writev), {SYS_pread64, "read"},
    {SYS_pwrite64, "write"},
    WORD(openat), WORD(fsync), WORD(fdatasync), WORD(flock), WORD(fcntl), WORD(ioctl), WORD(wait4), WORD(waitid),
    WORD(recvfrom), WORD(recvmsg),
    WORD(sendto), WORD(sendmsg), WORD(connect), {SYS_accept4, "accept"}, {SYS_rt_sigsuspend, "sigsuspend"},
    {SYS_rt_sigtimedwait, "sigwait"},
    WORD(semtimedop), {SYS_semop, "semtimedop"}, WORD(msgrcv), WORD(msgsnd), {SYS_mq_timedreceive, "mq_receive"},
    {SYS_io_getevents, "io_getevents"},
    {SYS_restart_syscall, "restart_syscall"},
};
enum { WORDS = sizeof words / sizeof *words, OTHERS = 16, UNKNOWN = -1 };

static uint32_t texts[WORDS]; /* in the run, plus 1; 0: not declared yet */
static struct {
    char name[48];
    uint32_t text;
} others[OTHERS]; /* system calls without a word, by the function of the kernel that sleeps */

static uint32_t declare(uint32_t *place, const char *text)
{
    if (!*place) *place = text_of(text) + 1;
    return *place - 1;
}

static uint32_t other(const char *name)
{
    for (int i = 0; i < OTHERS; i++) {
        if (!others[i].name[0]) snprintf(others[i].name, sizeof others[i].name, "%.47s", name);
        if (strncmp(others[i].name, name, sizeof others[i].name - 1) == 0)
            return declare(&others[i].text, others[i].name);
    }
    return text_empty();
}

/* The word for where a thread sleeps; where it slept before, if it is awake by now. */
static uint32_t word_of(uint32_t id, uint32_t before)
{
    char text[256];
    long number = UNKNOWN;
    if (read_file(id, "syscall", text, sizeof text)) {
        if (text[0] == 'r') return before; /* "running" */
        if (text[0] >= '0' && text[0] <= '9') number = strtol(text, NULL, 10);
    }
    for (int i = 0; number != UNKNOWN && i < WORDS; i++)
        if (words[i].number == number) return declare(&texts[i], words[i].text);
    bool known = read_file(id, "wchan", text, 48) && text[0] != '0';
    return other(known ? text : "unknown");
}

/* ---- other threads of the process ---- */

static struct times elsewhere; /* of threads without a row */
static uint64_t elsewhere_at;

/* On a busy machine, a thread that computes gets a small part of a core and waits for the rest, in long slices. */
static bool much(const struct times *from, const struct times *to, uint64_t during)
{
    uint64_t cpu = to->cpu - from->cpu, waited = to->waited - from->waited, slices = to->slices - from->slices;
    if (to->cpu <= from->cpu) return false; /* or threads have ended */
    return cpu * OTHERS_SHARE > during ||
           (to->waited > from->waited && (cpu + waited) * 2 > during && cpu > slices * LONG_SLICE_NS);
}

/* Whether threads compute that have no row, and are neither the agent's nor the library's. */
static bool others_compute(uint64_t now)
{
    static bool answer;
    struct times sum = {0}, one;
    if (elsewhere_at && now - elsewhere_at < WINDOW_NS) return answer;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        uint32_t id = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (!id || where_has_row(id) || threads_is_helper(id) || agent_thread_is_own(id) || !processor_times(id, &one))
            continue;
        sum.cpu += one.cpu;
        sum.waited += one.waited;
        sum.slices += one.slices;
    }
    if (folder) closedir(folder);
    answer = elsewhere_at && much(&elsewhere, &sum, now - elsewhere_at);
    elsewhere = sum;
    elsewhere_at = now;
    return answer;
}

/* ---- looks ---- */

static struct look {
    uint64_t calls;      /* 1 + the number of the last call */
    uint64_t cpu, at;    /* the processor time at the beginning of a window */
    uint64_t asleep_at;  /* the last look that found it asleep */
    uint32_t asleep;     /* such looks */
    bool computed;       /* much, in the window before */
    uint64_t last_cpu;   /* at the last look; UINT64_MAX: it was awake then */
    uint64_t last_at;
} looks[WHERE_ROWS];

static bool is_little(uint64_t from, uint64_t cpu, uint64_t during)
{
    return cpu <= from || (cpu - from) * OWN_SHARE <= during;
}

/* On a busy machine, a thread that wakes up now and then may be found awake, waiting for a core. */
static bool look(struct where_row *row, struct look *look, uint64_t now)
{
    uint64_t calls = row->state.calls, cpu = 0;
    bool outside = row->state.thread && (!__atomic_load_n(&row->state.inside, __ATOMIC_ACQUIRE) || row->left == calls);
    if (!outside || look->calls != calls + 1 || !processor_time(row->state.thread, &cpu)) {
        *look = (struct look){.calls = outside ? calls + 1 : 0, .at = now, .last_cpu = UINT64_MAX};
        if (outside) processor_time(row->state.thread, &look->cpu);
        cpu = look->cpu;
    }
    bool asleep = outside && is_asleep(row->state.thread);
    bool still = asleep && look->last_cpu != UINT64_MAX && is_little(look->last_cpu, cpu, now - look->last_at);
    if (asleep) {
        look->asleep++;
        look->asleep_at = now;
    }
    look->last_cpu = asleep ? cpu : UINT64_MAX;
    look->last_at = now;
    bool computes = !is_little(look->cpu, cpu, now - look->at);
    bool sleeps = still ||
                  (outside && look->asleep >= 2 && now - look->asleep_at < WINDOW_NS && !computes && !look->computed);
    if (now - look->at > WINDOW_NS) {
        look->computed = computes;
        look->cpu = cpu;
        look->at = now;
    }
    if (asleep) row->slept = clock_ticks();
    if (sleeps && asleep)
        row->outside = word_of(row->state.thread, row->sleeping == calls + 1 ? row->outside : text_empty());
    __atomic_store_n(&row->sleeping, sleeps ? calls + 1 : 0, __ATOMIC_RELEASE);
    return sleeps;
}

void where_look_outside(void)
{
    struct where_row *row;
    uint64_t now = clock_monotonic();
    bool sleep = false;
    for (int i = 0; (row = where_row(i)); i++) sleep |= row->state.nested == 0 && look(row, &looks[i], now);
    bool busy = sleep && others_compute(now);
    if (!sleep) elsewhere_at = 0;
    for (int i = 0; (row = where_row(i)); i++) row->busy = busy;
}
