/* record.c: opens and closes the run that tools write to. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "life/life.h"
#include "mpi/requests.h"
#include "pvar/pvar.h"

#ifndef MPITX_VERSION
#define MPITX_VERSION "unknown"
#endif

#define MAX_COLUMNS 65536

const char *const record_keys[] = {"dir", "live_dir", "run_id", "max_size", "policy", "job_start_ns", "program",
                                   "agent_version", "close_wait_ms", "spawned", "test_clock", NULL};

static int nibble(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
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

/* "first spawner job", written by spawn.c. */
static void read_spawned(struct mpitx_run_spawned *spawned)
{
    const char *text = agent_config("spawned", 0);
    if (!text || sscanf(text, "%d %d %d", &spawned->first, &spawned->spawner, &spawned->job) != 3 ||
        spawned->first <= 0)
        *spawned = (struct mpitx_run_spawned){0};
    agent_process.first = spawned->first;
}

/* For tests: "rank nanoseconds rate host". From this rank on, processes are on another node, whose clocks are wrong. */
static void read_skew(struct mpitx_run_options *o, char host[256])
{
    const char *text = agent_config("test_clock", 0);
    struct mpitx_run_skew skew;
    char name[64];
    long long ahead;
    int rank;
    if (!text || sscanf(text, "%d %lld %lf %63s", &rank, &ahead, &skew.rate, name) != 4 || agent_process.rank < rank)
        return;
    skew.ahead_ns = ahead;
    o->skew = skew;
    snprintf(host, 256, "%s", name);
}

static uint64_t ticks(void) { return clock_ticks(); }

bool record_open(void)
{
    static char library[8192], host[256];
    char why[512] = "";
    struct mpitx_run_options *o = &agent_run_options;
    const char *policy = agent_config("policy", 0), *program = agent_config("program", 0),
                         *version = agent_config("agent_version", 0);
    double error = clock_calibrate(); /* relative error of the tick rate */
    int saved = errno;
    if (!pvar.table && !pvar_open()) return false;
    if (policy && strcmp(policy, "last") != 0 && strcmp(policy, "stop") != 0)
        agent_note("policy=%s: unknown policy; use stop or last", policy);
    read_run_id(o->run_id);
    gethostname(host, sizeof host - 1);
    read_skew(o, host);
    pvar.table->get_library_version(library, sizeof library);
    if (pvar.table->get_version(&o->mpi_version, &o->mpi_subversion) != MPITX_SUCCESS)
        o->mpi_version = o->mpi_subversion = 0;
    o->live_dir = agent_config("live_dir", 0);
    o->max_size = agent_config_number("max_size", 0);
    o->policy = policy && strcmp(policy, "last") == 0 ? MPITX_RUN_KEEP_LAST : MPITX_RUN_STOP;
    o->max_columns = MAX_COLUMNS;
    o->close_wait_ms = (uint32_t)agent_config_number("close_wait_ms", 0);
    o->claims = true;
    read_spawned(&o->spawned);
    o->rank = agent_process.rank < 0 ? agent_process.rank : agent_process.first + agent_process.rank;
    o->size = agent_process.size < 0 ? 0 : agent_process.size;
    o->host = host;
    o->family = pvar.table->family;
    o->library = library;
    o->program = program ? program : program_invocation_name;
    o->agent = version ? version : MPITX_VERSION;
    o->thread_level = agent_process.thread_level + 1;
    o->t_thread_level = pvar.t_level;
    o->job_start_ns = (int64_t)agent_config_number("job_start_ns", 0);
    o->clock = MPITX_RUN_CLOCK_MONOTONIC;
    o->ns_per_tick = 1;
    if (clock_counter) {
        o->clock = MPITX_RUN_CLOCK_TSC;
        o->ticks = ticks;
        o->ns_per_tick = (double)clock_nanoseconds(1000000000u) / 1e9 * (1 + o->skew.rate);
        o->clock_error_ns = error * 10e9; /* clock pairs are 10 s apart */
    }
    agent_run = mpitx_run_open(o, why, sizeof why);
    if (!agent_run) agent_note("no run: %s", why);
    errno = saved;
    return agent_run != NULL;
}

static void report_losses(void)
{
    struct chain_losses losses = chain_losses();
    if (losses.requests)
        agent_report(MPITX_RUN_WARNING,
                     "%llu requests are not tracked, because the agent's table was full (it holds up to %d requests): "
                     "messages that complete with them are not counted",
                     (unsigned long long)losses.requests, REQUESTS_MOST);
    if (losses.locked)
        agent_report(MPITX_RUN_WARNING,
                     "%llu requests are not tracked, because another thread locked the agent's table for too long: "
                     "their messages are not counted, or they stay outstanding", (unsigned long long)losses.locked);
    if (losses.frames)
        agent_report(MPITX_RUN_WARNING, "%llu MPI calls are not counted: " CHAIN_TOO_DEEP,
                     (unsigned long long)losses.frames, CHAIN_FRAMES);
    if (losses.sizes)
        agent_report(MPITX_RUN_WARNING,
                     "the bytes of %llu calls are missing: the MPI library did not tell the size of a datatype or "
                     "communicator", (unsigned long long)losses.sizes);
    if (agent_process.spawned) {
        char count[24];
        snprintf(count, sizeof count, "%llu", (unsigned long long)agent_process.spawned);
        agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_SPAWNED, count);
    }
}

void record_close(enum agent_end end)
{
    int saved = errno;
    if (agent_run) report_losses();
    agent_report_notes();
    mpitx_run_close(&agent_run, agent_run_off ? MPITX_RUN_END_OFF : (int)end, end == AGENT_FINALIZE && !agent_run_busy);
    errno = saved;
}

void record_abandon(void) { mpitx_run_abandon_in_child(&agent_run); }
