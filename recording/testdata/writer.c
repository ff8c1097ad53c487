/* writer.c: writes runs with the agent's writer, for recording's tests. Its arguments are a script, run in order:
 *
 *   dir=D live=D max=BYTES policy=keep|stop chunk=BYTES chunks=N rank=R size=N host=H inline=1   options, before open
 *   open            opens the run; "FAIL reason" and exit status 9 if that fails
 *   columns         declares the columns and sets of the test (see below)
  *   samples=N       N samples of each set, 1 ms apart; values follow from the sample's number
  *   slow=N          the same, sleeping for a millisecond in between
  *   room, failing   the same, until one finds room; until a chunk could not be appended
  *   working         waits until all chunks could be appended again
  *   names=N         names an object N times
  *   growing=N       N times: declares a set and samples all sets so far forty times
  *   note=T outcome functions name=T miss=N cost=N clock pause
  *   appended        waits until the node's file has data
  *   hold=MS         another thread holds the run's lock for that long, starting now
  *   and the parts of events.c
  *   chdirtmp chroottmp closeall fork kill stop close bench=N threads=N
  */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run/internal.h"
#include "../../binding/shim/mpitx.h"
#include "events.h"

static struct mpitx_run *run;
static struct mpitx_run_options options = {.rank = 0, .size = 1, .host = "node1", .family = "test", .library = "Test MPI 1.0",
                                           .program = "writer", .agent = "0", .mpi_version = 4, .thread_level = MPITX_THREAD_MULTIPLE,
                                           .interval_ns = 1000000};
static uint64_t number, start;
static uint32_t offsets[8], row_bytes, array_bytes;
static int set, array_set;
static sem_t holding;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void appended(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/node-%s.mpxr", options.dir, options.host);
    for (int i = 0; i < 60000 && access(path, F_OK); i++)
        usleep(1000);
}

static void *keep_locked(void *ms)
{
    struct mpitx_run *held = run;
    sem_post(&holding);
    usleep((useconds_t)(uintptr_t)ms * 1000);
    run_unlock(held);
    return NULL;
}

static void hold(uint64_t ms)
{
    pthread_t thread;
    while (!run_try_lock(run))
        ;
    if (sem_init(&holding, 0, 0) || pthread_create(&thread, NULL, keep_locked, (void *)(uintptr_t)ms))
        exit(9);
    sem_wait(&holding);
    pthread_detach(thread);
}

static int column(const char *name, int cls, int type, uint32_t count)
{
    static const struct mpitx_run_enum_item items[] = {{0, "idle"}, {1, "busy"}, {-5, "odd"}};
    struct mpitx_run_column c = {.variable = name, .var_class = cls, .datatype = type, .count = count, .bind = MPITX_BIND_NO_OBJECT};
    if (count > 1) {
        c.bind = MPITX_BIND_MPI_COMM;
        c.object = 7;
        c.unit = "B";
        c.object_name = "MPI_COMM_WORLD";
        c.labels = MPITX_RUN_LABEL_PEER;
    }
    if (cls == MPITX_PVAR_CLASS_TIMER)
        c.unit = "s";
    if (cls == MPITX_PVAR_CLASS_STATE) {
        c.enum_name = "states";
        c.items = items;
        c.item_count = 3;
    }
    return mpitx_run_declare_column(run, &c);
}

static void columns(void)
{
    uint32_t ids[6] = {
        (uint32_t)column("bytes", MPITX_PVAR_CLASS_COUNTER, MPITX_TYPE_UNSIGNED_LONG_LONG, 1),
        (uint32_t)column("wraps", MPITX_PVAR_CLASS_COUNTER, MPITX_TYPE_UNSIGNED, 1),
        (uint32_t)column("state", MPITX_PVAR_CLASS_STATE, MPITX_TYPE_INT, 1),
        (uint32_t)column("seconds", MPITX_PVAR_CLASS_TIMER, MPITX_TYPE_DOUBLE, 1),
        (uint32_t)column("flag", MPITX_PVAR_CLASS_GENERIC, MPITX_TYPE_C_BOOL, 1),
        (uint32_t)column("level", MPITX_PVAR_CLASS_LEVEL, MPITX_TYPE_INT16_T, 1),
    };
    uint32_t array = (uint32_t)column("per_peer", MPITX_PVAR_CLASS_SIZE, MPITX_TYPE_UNSIGNED_LONG, 4);
    set = mpitx_run_declare_set(run, ids, 6, offsets, &row_bytes);
    array_set = mpitx_run_declare_set(run, &array, 1, NULL, &array_bytes);
    printf("sets %d %d\n", set, array_set);
}

static bool sample(void)
{
    char row[256] = {0};
    uint8_t statuses[6] = {0};
    uint64_t n = number++;
    uint64_t bytes = n * 1000 + 9007199254740993u; /* not representable as a double */
    uint32_t wraps = (uint32_t)(4294967000u + n * 7);
    int32_t state = n % 3 == 2 ? -5 : (int32_t)(n % 3);
    double seconds = -1.7e9 + (double)n * 0.5;
    uint8_t flag = n & 1;
    int16_t level = (int16_t)(n % 200 - 100);
    memcpy(row + offsets[0], &bytes, 8);
    memcpy(row + offsets[1], &wraps, 4);
    memcpy(row + offsets[2], &state, 4);
    memcpy(row + offsets[3], &seconds, 8);
    memcpy(row + offsets[4], &flag, 1);
    memcpy(row + offsets[5], &level, 2);
    if (n % 10 == 9)
        statuses[3] = MPITX_RUN_ERROR;
    uint64_t t = start + n * 1000000;
    bool recorded = mpitx_run_sample(run, (uint32_t)set, t, row, statuses) == 0;
    uint64_t array[4] = {n, n * 2, n * 3, n << 40};
    return mpitx_run_sample(run, (uint32_t)array_set, t, array, NULL) == 0 && recorded;
}

/* N samples of sixteen 64-bit counters in bursts of 256, which the disk keeps up with, so that the benchmark measures the writer. The
 * cost of computing the values is subtracted. */
static void bench(uint64_t n)
{
    uint32_t ids[16];
    uint64_t row[16] = {0}, taken = 0, computing = 0, lost = 0;
    for (int i = 0; i < 16; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%02d", i);
        ids[i] = (uint32_t)column(name, MPITX_PVAR_CLASS_COUNTER, MPITX_TYPE_UINT64_T, 1);
    }
    int s = mpitx_run_declare_set(run, ids, 16, NULL, NULL);
    for (uint64_t i = 0; i < n;) {
        uint64_t t0 = now(), begin = i;
        for (; i < n && i < begin + 256; i++) {
            for (int k = 0; k < 16; k++)
                row[k] += i * (uint64_t)k;
            lost += mpitx_run_sample(run, (uint32_t)s, start + i * 160000, row, NULL) != 0;
        }
        uint64_t t1 = now();
        for (uint64_t j = begin; j < i; j++)
            for (int k = 0; k < 16; k++) {
                row[k] += j * (uint64_t)k;
                __asm__ volatile("" : : "r"(row) : "memory");
            }
        computing += now() - t1;
        taken += t1 - t0;
        usleep(100);
    }
    printf("bench %.1f ns per sample of 16, lost %llu\n", ((double)taken - (double)computing) / (double)n, (unsigned long long)lost);
}

static void growing(uint64_t n)
{
    static uint64_t row = 0;
    for (uint64_t i = 0; i < n; i++) {
        char name[32];
        snprintf(name, sizeof name, "growing%03llu", (unsigned long long)i);
        uint32_t id = (uint32_t)column(name, MPITX_PVAR_CLASS_LEVEL, MPITX_TYPE_UINT64_T, 1);
        int last = mpitx_run_declare_set(run, &id, 1, NULL, NULL);
        for (int k = 0; k < 40; k++, row++)
            for (int s = 0; s <= last; s++)
                mpitx_run_sample(run, (uint32_t)s, start + row * 1000, &row, NULL);
    }
}

static void *hammer(void *arg)
{
    uint64_t n = *(uint64_t *)arg, row[4];
    for (uint64_t i = 0; i < n; i++) {
        row[0] = row[1] = row[2] = row[3] = i;
        mpitx_run_sample(run, (uint32_t)array_set, now(), row, NULL);
    }
    return NULL;
}

static void threads(uint64_t n)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, hammer, &n);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
}

static void forked(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        int rc = mpitx_run_note(run, MPITX_RUN_INFO, 0, "from the child");
        uint64_t row[4] = {0};
        rc += mpitx_run_sample(run, (uint32_t)array_set, now(), row, NULL);
        struct mpitx_run *same = run;
        mpitx_run_close(&same, MPITX_RUN_END_EXIT, true);
        mpitx_run_abandon_in_child(&run);
        mpitx_run_note(run, MPITX_RUN_INFO, 0, "from the child");
        _exit(rc == 2 * MPITX_RUN_OFF ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    printf("child %d\n", status);
}

static void closed(int how)
{
    errno = 77;
    mpitx_run_close(&run, how, true);
    printf("closed %d\n", errno == 77 && !run);
}

static void option(const char *key, const char *value)
{
    uint64_t n = strtoull(value, NULL, 10);
    if (!strcmp(key, "dir")) options.dir = value;
    else if (!strcmp(key, "live")) options.live_dir = value;
    else if (!strcmp(key, "max")) options.max_size = n;
    else if (!strcmp(key, "policy")) options.policy = !strcmp(value, "keep");
    else if (!strcmp(key, "chunk")) options.chunk_bytes = (uint32_t)n;
    else if (!strcmp(key, "chunks")) options.chunks = (uint32_t)n;
    else if (!strcmp(key, "rank")) options.rank = (int32_t)n;
    else if (!strcmp(key, "size")) options.size = (int32_t)n;
    else if (!strcmp(key, "host")) options.host = value;
    else if (!strcmp(key, "inline")) options.no_thread = (int)n;
    else if (!strcmp(key, "wait")) options.close_wait_ms = (uint32_t)n;
    else if (!strcmp(key, "fsize")) setrlimit(RLIMIT_FSIZE, &(struct rlimit){n, RLIM_INFINITY});
    else if (!strcmp(key, "samples")) while (n--) sample();
    else if (!strcmp(key, "slow")) for (; n; n--, usleep(1000)) sample();
    else if (!strcmp(key, "note")) mpitx_run_note(run, MPITX_RUN_WARNING, MPITX_RUN_NOTE_TEXT, value);
    else if (!strcmp(key, "name")) mpitx_run_object_name(run, 7, value);
    else if (!strcmp(key, "names")) for (char s[24]; n--;) { snprintf(s, sizeof s, "%llu", (unsigned long long)n); mpitx_run_object_name(run, 7, s); }
    else if (!strcmp(key, "growing")) growing(n);
    else if (!strcmp(key, "miss")) mpitx_run_missed(run, n);
    else if (!strcmp(key, "cost")) mpitx_run_cost(run, n, n * 100);
    else if (!strcmp(key, "bench")) bench(n);
    else if (!strcmp(key, "threads")) threads(n);
    else if (!strcmp(key, "hold")) hold(n);
    else if (!strcmp(key, "sleep")) usleep((useconds_t)n * 1000);
    else if (!strcmp(key, "pool")) options.pool_bytes = n;
    else if (!strcmp(key, "mostthreads")) options.max_threads = (uint32_t)n;
    else if (!events_option(run, key, n)) printf("unknown %s\n", key);
}

static void act(const char *what)
{
    char why[256] = "";
    if (!strcmp(what, "open")) {
        errno = 77;
        start = now();
        run = mpitx_run_open(&options, why, sizeof why);
        printf("open %s errno %d live %s\n", run ? "ok" : why, errno, mpitx_run_live_path(run));
        if (!run)
            exit(9);
    } else if (!strcmp(what, "columns")) columns();
    else if (!strcmp(what, "room")) while (!sample()) usleep(1000);
    else if (!strcmp(what, "failing")) for (; !*(volatile bool *)&run->failing; usleep(1000)) sample();
    else if (!strcmp(what, "working")) while (*(volatile bool *)&run->failing) usleep(1000);
    else if (!strcmp(what, "outcome")) mpitx_run_outcome(run, 1, "cvar_x", "3", "1", "3", "ok");
    else if (!strcmp(what, "functions")) mpitx_run_functions(run, (struct mpitx_run_function[]){{"MPI_Send", 3, 4500}, {"MPI_Wait", 1, 7}}, 2);
    else if (!strcmp(what, "flush")) mpitx_run_flush(run);
    else if (!strcmp(what, "clock")) mpitx_run_clock_pair(run);
    else if (!strcmp(what, "status")) mpitx_run_column_status(run, 1, MPITX_RUN_GONE, "the object was freed");
    else if (!strcmp(what, "chdirtmp")) (void)!chdir("/tmp");
    else if (!strcmp(what, "chroottmp")) { if (chroot("/tmp") || chdir("/")) exit(9); }
    else if (!strcmp(what, "appended")) appended();
    else if (!strcmp(what, "closeall")) for (int fd = 3; fd < 256; fd++) close(fd);
    else if (!strcmp(what, "fork")) forked();
    else if (!strcmp(what, "kill")) raise(SIGKILL);
    else if (!strcmp(what, "exec")) execl("/bin/echo", "echo", "execed", NULL);
    else if (!strcmp(what, "close")) closed(MPITX_RUN_END_FINALIZE);
    else if (!strcmp(what, "wait")) { char c; (void)!read(0, &c, 1); }
    else if (!events_act(run, what)) printf("unknown %s\n", what);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int i = 1; i < argc; i++) {
        char *eq = strchr(argv[i], '=');
        if (eq) {
            *eq = 0;
            option(argv[i], eq + 1);
        } else {
            act(argv[i]);
        }
    }
    return 0;
}
