/* events.c: writes events and tables as a tool does, for recording's tests. Its part of writer.c's scripts:
 *
 *   kinds           declares two event types, a table and texts
 *   events=N        N events of each type in this thread, 1 us apart; their values follow from their numbers
 *   tasks=N         N threads one after another, each with an event
 *   begin=N         N threads at once, at most 100, each with 100 events of each type
 *   together=N      four threads at once, each with N events of each type and its own rows
 *   rows=N          N rows, each changed as often as its number says
 *   hot=N           one row, changed N times
 *   torn            begins a change of a row and does not complete it
 *   library         loads a library
 *   dying           four threads continue to write while the run is closed as in MPI_Abort, and the process ends
 *   busy=N          N events of a stream that never waits, and of one that does, while another thread holds the run's lock
 *   child           a forked child writes data that must not reach the run
 *   benchevents=N benchrows=N */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "events.h"
#include "run/internal.h"

/* The declared fields have the offsets of these structs. */
struct message {
    uint64_t bytes;
    int32_t peer;
    uint32_t function; /* a text */
    double seconds;
    uint64_t from; /* an address */
};

struct mark {
    uint8_t kind;
    int16_t level;
    uint32_t parts[3];
};

struct site {
    struct mpitx_run_row row;
    uint64_t address; /* the key */
    uint32_t function;
    uint64_t calls, bytes, longest;
    double least;
    uint32_t sizes[4]; /* a histogram */
};

static int message, mark, sites;
static uint32_t functions[2];

static uint64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void declare_kinds(struct mpitx_run *run)
{
    static const struct mpitx_run_field of_message[] = {
        {.name = "bytes", .type = MPITX_RUN_U64, .unit = "B"},
        {.name = "peer", .type = MPITX_RUN_I32},
        {.name = "function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
        {.name = "seconds", .type = MPITX_RUN_F64, .unit = "s"},
        {.name = "from", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS},
    };
    static const struct mpitx_run_field of_mark[] = {
        {.name = "kind", .type = MPITX_RUN_U8},
        {.name = "level", .type = MPITX_RUN_I16},
        {.name = "parts", .type = MPITX_RUN_U32, .count = 3},
    };
    static const struct mpitx_run_field of_site[] = {
        {.name = "address", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS},
        {.name = "function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
        {.name = "calls", .type = MPITX_RUN_U64},
        {.name = "bytes", .type = MPITX_RUN_U64, .unit = "B"},
        {.name = "longest", .type = MPITX_RUN_U64, .merge = MPITX_RUN_MAX, .unit = "ns"},
        {.name = "least", .type = MPITX_RUN_F64, .merge = MPITX_RUN_MIN},
        {.name = "sizes", .type = MPITX_RUN_U32, .count = 4},
    };
    uint32_t bytes[3];
    functions[0] = (uint32_t)mpitx_run_declare_text(run, "MPI_Send");
    functions[1] = (uint32_t)mpitx_run_declare_text(run, "MPI_Recv");
    message = mpitx_run_declare_event(run, "message", of_message, 5, &bytes[0]);
    mark = mpitx_run_declare_event(run, "mark", of_mark, 3, &bytes[1]);
    sites = mpitx_run_declare_table(run, "sites", of_site, 7, 2, &bytes[2]);
    bool fit = bytes[0] == sizeof(struct message) && bytes[1] == sizeof(struct mark) && bytes[2] == sizeof(struct site);
    printf("kinds %d %d %d %s\n", message, mark, sites, fit ? "fit" : "do not fit");
}

static void write_events(struct mpitx_run *run, uint64_t n)
{
    int thread = mpitx_run_thread_begin(run);
    for (uint64_t i = 0, start = clock_now(); i < n; i++) {
        struct message m = {.bytes = i * 3, .peer = -(int32_t)i, .function = functions[i & 1], .seconds = (double)i / 4, .from = 0x1000 + i};
        struct mark k = {.kind = (uint8_t)i, .level = (int16_t)-i, .parts = {(uint32_t)i, 7, ~0u}};
        mpitx_run_event(run, thread, message, start + i * 1000, &m);
        mpitx_run_event(run, thread, mark, start + i * 1000 + 1, &k);
    }
    mpitx_run_thread_end(run, thread);
}

static int yields;

int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

/* A chunk can be full before its declarations are sealed, which takes the lock. */
static void busy(struct mpitx_run *run, uint64_t n)
{
    for (int waits = 0; waits < 2; waits++) {
        int thread = mpitx_run_thread_begin(run);
        uint64_t lost = 0;
        struct mark k = {.kind = 1};
        if (!waits)
            mpitx_run_thread_never_waits(run, thread);
        mpitx_run_declare_text(run, "late");
        yields = 0;
        atomic_flag_test_and_set(&run->lock);
        for (uint64_t i = 0; i < n; i++)
            lost += mpitx_run_event(run, thread, mark, clock_now(), &k) != 0;
        atomic_flag_clear(&run->lock);
        mpitx_run_event(run, thread, mark, clock_now(), &k);
        printf("busy %s lost %llu\n", yields ? "waited" : "did not wait", (unsigned long long)lost);
        mpitx_run_thread_end(run, thread);
    }
}

static struct site *new_site(struct mpitx_run *run, uint64_t address)
{
    struct site first = {.address = address, .function = functions[address & 1], .least = 1e9};
    return (struct site *)(void *)mpitx_run_row(run, sites, &first);
}

static void change(struct mpitx_run *run, struct site *s, uint64_t n)
{
    if (!mpitx_run_row_begin(run, &s->row))
        return;
    s->calls++;
    s->bytes += n;
    s->longest = n > s->longest ? n : s->longest;
    s->least = (double)n < s->least ? (double)n : s->least;
    s->sizes[n & 3]++;
    mpitx_run_row_end(&s->row);
}

static void write_rows(struct mpitx_run *run, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        struct site *s = new_site(run, i);
        for (uint64_t k = 1; s && k <= i; k++)
            change(run, s, k);
    }
}

struct work {
    struct mpitx_run *run;
    uint64_t events, rows;
};

static void *work(void *arg)
{
    const struct work *w = arg;
    write_events(w->run, w->events);
    write_rows(w->run, w->rows);
    return NULL;
}

static void in_threads(int at_once, struct work w)
{
    pthread_t threads[100];
    for (int i = 0; i < at_once; i++)
        pthread_create(&threads[i], NULL, work, &w);
    for (int i = 0; i < at_once; i++)
        pthread_join(threads[i], NULL);
}

static void *work_on(void *arg)
{
    for (;;)
        work(arg);
    return NULL;
}

static void dying(struct mpitx_run *run)
{
    static struct work w;
    pthread_t thread;
    w = (struct work){run, 500, 10};
    for (int i = 0; i < 4; i++)
        pthread_create(&thread, NULL, work_on, &w);
    usleep(20000);
    mpitx_run_close(&run, MPITX_RUN_END_ABORT, false);
    _exit(0);
}

/* The parent's rows are mapped in the child. */
static void child(struct mpitx_run *run)
{
    int thread = mpitx_run_thread_begin(run), status = -1;
    struct site *s = new_site(run, 77);
    struct mark k = {.kind = 1};
    pid_t pid = fork();
    if (pid == 0) {
        bool off = mpitx_run_event(run, thread, mark, clock_now(), &k) == MPITX_RUN_OFF && !mpitx_run_row_begin(run, &s->row) &&
                   mpitx_run_thread_begin(run) == MPITX_RUN_OFF && !new_site(run, 78) && mpitx_run_modules(run) == MPITX_RUN_OFF;
        mpitx_run_abandon_in_child(&run);
        off &= mpitx_run_event(run, thread, mark, clock_now(), &k) == MPITX_RUN_OFF && !mpitx_run_row_begin(run, NULL);
        _exit(off ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    errno = 77;
    change(run, s, 1);
    mpitx_run_event(run, thread, mark, clock_now(), &k);
    printf("forked %d errno %d\n", status, errno);
    mpitx_run_thread_end(run, thread);
}

/* Bursts of a quarter of the pool, which the disk keeps up with, so that the benchmark measures the writer. */
static void bench_events(struct mpitx_run *run, uint64_t n)
{
    int thread = mpitx_run_thread_begin(run);
    uint64_t taken = 0, lost = 0, start = clock_now();
    for (uint64_t i = 0; i < n; usleep(100)) {
        struct message m = {.peer = 1, .from = 0x1000};
        uint64_t t0 = clock_now();
        for (uint64_t end = i + 1024; i < n && i < end; i++) {
            m.bytes = i;
            lost += mpitx_run_event(run, thread, message, start + i * 100, &m) != 0;
        }
        taken += clock_now() - t0;
    }
    printf("benchevents %.1f ns per event of 32 bytes, lost %llu\n", (double)taken / (double)n, (unsigned long long)lost);
}

static void bench_rows(struct mpitx_run *run, uint64_t n)
{
    struct site *s = new_site(run, 1);
    uint64_t t0 = clock_now();
    for (uint64_t i = 0; i < n; i++) {
        if (!mpitx_run_row_begin(run, &s->row))
            continue;
        s->calls++;
        s->bytes += i;
        s->longest = i > s->longest ? i : s->longest;
        mpitx_run_row_end(&s->row);
    }
    printf("benchrows %.1f ns per update of three values\n", (double)(clock_now() - t0) / (double)n);
}

bool events_option(struct mpitx_run *run, const char *key, uint64_t n)
{
    if (!strcmp(key, "events")) write_events(run, n);
    else if (!strcmp(key, "tasks")) while (n--) in_threads(1, (struct work){run, 1, 0});
    else if (!strcmp(key, "begin")) in_threads((int)n, (struct work){run, 100, 0});
    else if (!strcmp(key, "together")) in_threads(4, (struct work){run, n, 40});
    else if (!strcmp(key, "busy")) busy(run, n);
    else if (!strcmp(key, "rows")) write_rows(run, n);
    else if (!strcmp(key, "hot")) {
        struct site *s = new_site(run, 0);
        for (uint64_t k = 1; s && k <= n; k++)
            change(run, s, k);
    } else if (!strcmp(key, "benchevents")) bench_events(run, n);
    else if (!strcmp(key, "benchrows")) bench_rows(run, n);
    else return false;
    return true;
}

bool events_act(struct mpitx_run *run, const char *what)
{
    if (!strcmp(what, "kinds")) declare_kinds(run);
    else if (!strcmp(what, "torn")) {
        struct site *s = new_site(run, 1000);
        change(run, s, 5);
        mpitx_run_row_begin(run, &s->row);
        s->calls++;
    } else if (!strcmp(what, "library")) printf("library %d\n", dlopen("libm.so.6", RTLD_NOW) != NULL);
    else if (!strcmp(what, "child")) child(run);
    else if (!strcmp(what, "dying")) dying(run);
    else return false;
    return true;
}
