/* sampler.c: the sampler's life: configuration, hooks, start and end. sampler.h has the map. */
#define _GNU_SOURCE
#include "tools/sample/sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "mpi/library.h"

#define DEFAULT_INTERVAL_NS UINT64_C(10000000)
#define SHORTEST_INTERVAL_NS UINT64_C(1000)
#define LOCK_NS UINT64_C(10000000000) /* trying variables of windows may take seconds on a busy machine */
#define DYING_LOCK_NS UINT64_C(100000000)
#define MOST_SETS 32000
#define MOST_COLUMNS 65536

#ifndef MPITX_VERSION
#define MPITX_VERSION "unknown"
#endif

const char *const agent_sampler_keys[] = {
    "dir", "live_dir", "run_id", "interval_ns", "count", "duration_ns", "max_size", "policy", "pvar", "set", "set_after",
    "job_start_ns", "program", "agent_version", "close_wait_ms", "seen", "probe", NULL};

struct sampler sampler;

/* ---- the lock ---- */

/* Taken by trying, hardly ever waited for; a mutex takes thrice the time. That this thread has it is kept too, for the sample that
 * is left by longjmp. */
static atomic_bool taken;
static _Thread_local bool locked __attribute__((tls_model("initial-exec")));
static struct cancel cancelable; /* of the thread that has it, before it took it */

bool sampler_try_lock(void)
{
    if (locked || atomic_load_explicit(&taken, memory_order_relaxed))
        return false;
    struct cancel before = cancel_defer();
    if (atomic_exchange_explicit(&taken, true, memory_order_acquire)) {
        cancel_restore(before);
        return false;
    }
    cancelable = before;
    return locked = true;
}

void sampler_unlock(void)
{
    struct cancel before = cancelable;
    locked = false;
    atomic_store_explicit(&taken, false, memory_order_release);
    cancel_restore(before);
}

static bool wait_for_lock(uint64_t most_ns)
{
    const struct timespec pause = {0, 50000};
    for (uint64_t start = clock_monotonic(); !locked && clock_monotonic() - start < most_ns;) {
        if (sampler_try_lock())
            return true;
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's is where a thread may be cancelled */
    }
    return false;
}

bool sampler_lock(void)
{
    if (wait_for_lock(LOCK_NS))
        return true;
    sampler_off(locked ? "a sample was left by longjmp or an exception" : "a sample did not end");
    if (locked)
        cancel_restore(cancelable);
    return false;
}

void sampler_off(const char *why)
{
    int on = SAMPLER_ON, done = SAMPLER_DONE;
    if (!atomic_compare_exchange_strong(&sampler.state, &on, SAMPLER_OFF))
        atomic_compare_exchange_strong(&sampler.state, &done, SAMPLER_OFF);
    atomic_store(&sampler.next_due, UINT64_MAX);
    chain_countdown(NULL);
    chain_follow_objects(false);
    sampler_note_code(MPITX_RUN_SEVERE, MPITX_RUN_NOTE_SWITCHED_OFF, why);
}

/* ---- configuration ---- */

static uint64_t number(const char *key, uint64_t otherwise)
{
    const char *text = agent_config(key, 0);
    if (!text)
        return otherwise;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno || *end || end == text || *text == '-') {
        agent_note("%s=%s: not a number", key, text);
        return otherwise;
    }
    return n;
}

static int nibble(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void read_run_id(uint8_t id[16])
{
    const char *text = agent_config("run_id", 0);
    for (int i = 0; text && i < 16; i++) {
        int high = nibble(text[2 * i]), low = high < 0 ? -1 : nibble(text[2 * i + 1]);
        if (low < 0) {
            memset(id, 0, 16);
            agent_note("run_id=%s: not 32 hexadecimal digits", text);
            return;
        }
        id[i] = (uint8_t)(high << 4 | low);
    }
}

/* ---- start ---- */

static bool open_table(void)
{
    char missing[128] = "";
    void *handle = agent_process.library && agent_process.library[0] ? dlopen(agent_process.library, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!handle) {
        Dl_info info;
        void *init = library_function("MPI_Init");
        if (init && dladdr(init, &info) && info.dli_fname)
            handle = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    }
    if (!handle) {
        agent_note("the MPI library cannot be opened (%s): nothing is sampled", dlerror());
        return false;
    }
    sampler.table = mpitx_shim_open(handle, missing, sizeof missing);
    if (!sampler.table) {
        agent_note("the MPI library lacks %s: nothing is sampled", missing);
        return false;
    }
    sampler_read_bind(handle);
    return true;
}

/* What MPI_T is asked for becomes Open MPI's level: up to 5.0 MPI_Query_thread says so, and 6.0 locks in every call from then on, for
 * good. So it is asked for the application's own. In MPICH it is MPI_T's alone. */
static int level_to_ask(void)
{
    if (strcmp(library_family, "mpich") == 0)
        return MPITX_THREAD_MULTIPLE;
    return agent_process.thread_level < 0 ? MPITX_THREAD_SINGLE : MPITX_THREAD_SINGLE + agent_process.thread_level;
}

/* Once, never to be finalised: libraries crash then. Not at all where nothing of MPI_T is asked for. */
static void start_mpi_t(void)
{
    if (!sampler_wants_library() && !sampler_has_settings())
        return;
    /* Open MPI 5 does not end with its last session where MPI_T is held: the next session could not communicate. */
    if (agent_process.sessions && strcmp(library_family, "openmpi") == 0) {
        agent_note("Open MPI cannot open another session after MPI_T: in a program without MPI_Init its variables are not sampled");
        return;
    }
    int level = 0;
    int rc = sampler.table->t_init_thread(level_to_ask(), &level);
    if (rc != MPITX_SUCCESS) {
        agent_note("MPI_T_init_thread: %s: the library's variables are not sampled", sampler_rc_name(rc));
        return;
    }
    sampler.mpi_t = true;
    sampler.t_level = level >= MPITX_THREAD_SINGLE && level <= MPITX_THREAD_MULTIPLE ? level : MPITX_THREAD_SINGLE;
    rc = sampler.table->pvar_session_create(&sampler.session);
    if (rc != MPITX_SUCCESS) {
        agent_note("MPI_T_pvar_session_create: %s: the library's variables are not sampled", sampler_rc_name(rc));
        sampler.mpi_t = false;
    }
}

static uint64_t ticks(void) { return clock_ticks(); }

static bool open_run(void)
{
    static char library[8192], host[256];
    char why[512] = "";
    const char *policy = agent_config("policy", 0);
    const char *program = agent_config("program", 0), *version = agent_config("agent_version", 0);
    double error = clock_calibrate(); /* of the ratio */
    uint8_t id[16] = {0};
    struct mpitx_run_options o = {
        .dir = agent_config("dir", 0), .live_dir = agent_config("live_dir", 0), .max_size = number("max_size", 0),
        .policy = policy && strcmp(policy, "last") == 0 ? MPITX_RUN_KEEP_LAST : MPITX_RUN_STOP,
        .max_sets = sampler_wants_library() ? MOST_SETS : 0, .max_columns = MOST_COLUMNS,
        .close_wait_ms = (uint32_t)number("close_wait_ms", 0), .claims = true, .rank = agent_process.rank,
        .size = agent_process.size < 0 ? 0 : agent_process.size, .host = host, .family = sampler.table->family, .library = library,
        .program = program ? program : program_invocation_name, .agent = version ? version : MPITX_VERSION,
        .thread_level = agent_process.thread_level + 1, .t_thread_level = sampler.t_level, .interval_ns = sampler.interval_ns,
        .job_start_ns = (int64_t)number("job_start_ns", 0), .clock = MPITX_RUN_CLOCK_MONOTONIC, .ns_per_tick = 1,
    };
    if (policy && strcmp(policy, "last") != 0 && strcmp(policy, "stop") != 0)
        agent_note("policy=%s: neither stop nor last", policy);
    read_run_id(id);
    memcpy(o.run_id, id, sizeof id);
    gethostname(host, sizeof host - 1);
    sampler.table->get_library_version(library, sizeof library);
    int version_number = 0, subversion = 0;
    if (sampler.table->get_version(&version_number, &subversion) == MPITX_SUCCESS)
        o.mpi_version = version_number, o.mpi_subversion = subversion;
    if (clock_counter) {
        o.clock = MPITX_RUN_CLOCK_TSC;
        o.ticks = ticks;
        o.ns_per_tick = (double)clock_nanoseconds(1000000000u) / 1e9;
        o.clock_error_ns = error * 10e9; /* between two pairs of clocks */
    }
    sampler.run = mpitx_run_open(&o, why, sizeof why);
    if (!sampler.run)
        agent_note("no run: %s", why);
    return sampler.run != NULL;
}

static void select_and_open(void)
{
    struct sampler_object world = {.bind = MPITX_BIND_MPI_COMM, .handle = agent_process.world};
    sampler_select();
    if (world.handle.number == 0 || agent_process.sessions)
        world.bind = MPITX_BIND_NO_OBJECT;
    sampler_prove(&world);
    sampler.next_object = 3;
    struct sampler_group *first = sampler_group_first();
    if (first)
        sampler_group_declare(first);
    sampler_note_unmatched(false);
}

/* Objects that may be proved and opened while the application runs: those of variables that need one. */
static void begin(void)
{
    uint64_t now = clock_ticks();
    uint64_t duration = number("duration_ns", 0);
    sampler.end_ticks = duration ? now + clock_from_nanoseconds(duration) : 0;
    sampler.limit = number("count", 0);
    atomic_store(&sampler.state, SAMPLER_ON);
    if (sampler.follow || sampler.library_count > 0)
        chain_follow_objects(true);
    if (!sampler_lock())
        return;
    atomic_store(&sampler.next_due, now);
    sampler.next_pair = now + clock_from_nanoseconds(UINT64_C(10000000000));
    sampler.stride = sampler.pace = 1;
    sampler_due(now);
    sampler_unlock();
    mpitx_run_flush(sampler.run);
    if (atomic_load(&sampler.state) != SAMPLER_ON)
        return;
    sampler_thread_start();
    chain_countdown(agent_due);
}

void agent_started(void)
{
    if (!agent_config("dir", 0))
        return;
    int saved = errno;
    sampler.interval_ns = number("interval_ns", DEFAULT_INTERVAL_NS);
    if (sampler.interval_ns < SHORTEST_INTERVAL_NS)
        sampler.interval_ns = SHORTEST_INTERVAL_NS;
    sampler_read_patterns();
    if (open_table()) {
        start_mpi_t();
        if (open_run()) {
            sampler.interval = clock_from_nanoseconds(sampler.interval_ns);
            if (sampler.interval == 0)
                sampler.interval = 1;
            sampler_apply_settings();
            select_and_open();
            sampler_tell_notes();
            begin();
        }
    }
    if (!sampler.run)
        agent_tell_unrecorded();
    errno = saved;
}

/* ---- end ---- */

static void last_sample(void)
{
    uint64_t now = clock_ticks(), due = atomic_load(&sampler.next_due);
    if (sampler_over(now, due))
        return;
    if (now > due)
        mpitx_run_missed(sampler.run, (now - due) / sampler.interval);
    sampler_take(now);
    mpitx_run_cost(sampler.run, 1, clock_nanoseconds(clock_ticks() - now));
}

/* On the way out of a process that aborts or exits no function of the library is called, whose locks a thread that crashed may
 * hold; no memory is allocated or freed, for the same reason; and nobody is waited for long. */
static bool lock_dying(const char *how)
{
    if (!wait_for_lock(DYING_LOCK_NS)) {
        sampler_note(MPITX_RUN_WARNING, "%s: the last sample is missing: %s was taking one", how, locked ? "this thread" : "another thread");
        return false;
    }
    if (atomic_load(&sampler.state) == SAMPLER_ON && sampler_leave_library())
        sampler_note(MPITX_RUN_INFO, "%s: the last sample has no values of the library's variables, which cannot be read then", how);
    return true;
}

static void tell_losses(void)
{
    struct chain_losses losses = chain_losses();
    if (losses.requests)
        sampler_note(MPITX_RUN_WARNING, "%llu requests found the agent's table full, or held too long by another thread: their messages are not counted, or they stay outstanding", (unsigned long long)losses.requests);
    if (losses.frames)
        sampler_note(MPITX_RUN_WARNING, "%llu calls were nested too deep to be told apart", (unsigned long long)losses.frames);
    if (losses.memory)
        sampler_note(MPITX_RUN_WARNING, "%llu times the agent was refused memory", (unsigned long long)losses.memory);
    if (sampler.skipped_objects)
        sampler_note(MPITX_RUN_WARNING, "intercommunicators with more processes on this side than on the other are not sampled: libraries read beyond the smaller group (%llu times)", (unsigned long long)sampler.skipped_objects);
    if (agent_process.spawned) {
        char count[24];
        snprintf(count, sizeof count, "%llu", (unsigned long long)agent_process.spawned);
        sampler_note_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_SPAWNED, count);
    }
    if (sampler.library_skipped * 10 > sampler.samples)
        sampler_note(MPITX_RUN_WARNING, "the library's variables were sampled when an MPI call began or ended, and not in a long call or between calls: MPI_T does not grant MPI_THREAD_MULTIPLE, as the application does not have it");
    if (sampler.refused_objects > 1)
        sampler_note(MPITX_RUN_WARNING, "%llu objects found no room in the run", (unsigned long long)sampler.refused_objects);
}

void agent_ending(enum agent_end end)
{
    if (!sampler.run)
        return;
    int saved = errno;
    bool off = atomic_load(&sampler.state) == SAMPLER_OFF, alone = false;
    if (!off)
        alone = end == AGENT_FINALIZE ? sampler_lock() : lock_dying(end == AGENT_ABORT ? "MPI_Abort" : "exit without MPI_Finalize");
    if (alone && atomic_load(&sampler.state) == SAMPLER_ON)
        last_sample();
    atomic_store(&sampler.state, SAMPLER_ENDED);
    atomic_store(&sampler.next_due, UINT64_MAX);
    if (alone)
        sampler_unlock();
    sampler_thread_stop();
    sampler_note_unmatched(true);
    tell_losses();
    sampler_tell_functions();
    sampler_tell_notes();
    mpitx_run_close(&sampler.run, off ? MPITX_RUN_END_OFF : (int)end, alone && end == AGENT_FINALIZE);
    errno = saved;
}

void agent_forked(void)
{
    atomic_store(&sampler.state, SAMPLER_OFF);
    mpitx_run_abandon_in_child(&sampler.run);
}
