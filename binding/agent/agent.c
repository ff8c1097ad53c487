#define _GNU_SOURCE
#include "agent_internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chain_internal.h"
#include "clock.h"
#include "requests.h"

struct agent_process agent_process = {.rank = -1, .size = -1, .thread_level = -1, .library = ""};

void chain_resolve_early(void);

/* ---- notes ---- */

enum { NOTES = 64, NOTE_LENGTH = 256 };
static char notes[NOTES][NOTE_LENGTH];
static int note_count;

void agent_note(const char *format, ...)
{
    int index = __atomic_fetch_add(&note_count, 1, __ATOMIC_RELAXED), saved = errno;
    if (index < NOTES) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(notes[index], NOTE_LENGTH, format, arguments);
        va_end(arguments);
    }
    errno = saved;
}

int agent_note_count(void)
{
    return __atomic_load_n(&note_count, __ATOMIC_RELAXED);
}

const char *agent_note_text(int index)
{
    return index >= 0 && index < NOTES && index < agent_note_count() ? notes[index] : NULL;
}

/* ---- configuration ---- */

enum { LINES = 512 };
static struct {
    const char *key, *value;
} lines[LINES];
static int line_count;

static const char *const own_keys[] = {"tool", "counts", "variable", "null", "library", "unfit", NULL};

static bool listed(const char *const *keys, const char *key)
{
    for (; *keys; keys++)
        if (strcmp(*keys, key) == 0) return true;
    return false;
}

/* \n and \\ in a value, in place. */
static void unescape(char *text)
{
    char *to = text;
    for (; *text; text++) {
        if (*text == '\\' && (text[1] == 'n' || text[1] == '\\')) {
            *to++ = text[1] == 'n' ? '\n' : '\\';
            text++;
        } else {
            *to++ = *text;
        }
    }
    *to = 0;
}

static void configure(char *text)
{
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        if (!*line) continue;
        char *value = strchr(line, '=');
        if (value) *value++ = 0;
        if (!value || !(listed(own_keys, line) || listed(agent_sampler_keys, line))) {
            agent_note("configuration: unknown key %s", line);
        } else if (line_count == LINES) {
            agent_note("configuration: too many lines: %s", line);
        } else {
            unescape(value);
            lines[line_count].key = line;
            lines[line_count++].value = value;
        }
    }
}

const char *agent_config(const char *key, int nth)
{
    for (int i = 0; i < line_count; i++)
        if (strcmp(lines[i].key, key) == 0 && nth-- == 0) return lines[i].value;
    return NULL;
}

/* ---- the environment ---- */

static const char variable[] = "MPITX_AGENT";

static bool is_agent(const char *item, size_t length)
{
    Dl_info self;
    if (!dladdr((void *)is_agent, &self) || !self.dli_fname) return false;
    const char *own = strrchr(self.dli_fname, '/');
    own = own ? own + 1 : self.dli_fname;
    for (size_t i = length; i > 0; i--)
        if (item[i - 1] == '/') {
            item += i;
            length -= i;
            break;
        }
    return length == strlen(own) && memcmp(item, own, length) == 0;
}

/* By this option an address-sanitised program starts with the agent. The user would write =0. */
static bool is_asan_option(const char *item, size_t length)
{
    static const char option[] = "verify_asan_link_order=false";
    return length == sizeof option - 1 && memcmp(item, option, length) == 0;
}

/* Takes items out of a variable that is a list. */
static void leave_list(const char *name, const char *separators, bool (*ours)(const char *item, size_t length))
{
    const char *list = getenv(name);
    char *rest = list ? malloc(strlen(list) + 1) : NULL, *to = rest;
    if (!rest) return;
    bool found = false;
    while (*list) {
        size_t length = strcspn(list, separators);
        if (length && ours(list, length)) {
            found = true;
        } else if (length) {
            if (to > rest) *to++ = ':';
            memcpy(to, list, length);
            to += length;
        }
        list += length;
        if (*list) list++;
    }
    *to = 0;
    if (found && to > rest)
        setenv(name, rest, 1);
    else if (found)
        unsetenv(name);
    free(rest);
}

/* Takes the agent out of the environment, so that what the process starts is free of it. */
static void leave_environment(void)
{
    unsetenv(variable);
    leave_list("LD_PRELOAD", ": ", is_agent);
    leave_list("ASAN_OPTIONS", ":", is_asan_option);
}

/* ---- life ---- */

static bool world_open, ending_told;
static int open_sessions;

bool agent_is_armed(void)
{
    return agent_process.state == AGENT_ARMED || agent_process.state == AGENT_RUNNING;
}

__attribute__((constructor)) static void start(void)
{
    const char *configuration = getenv(variable);
    if (!configuration) return;
    char *copy = strdup(configuration); /* for the life of the process */
    if (!copy) return;
    agent_process.state = AGENT_ARMED;
    configure(copy);
    chain_resolve_early();
    if (chain_resolved) clock_start(); /* the earlier, the better it is calibrated */
}

void agent_foreign_family(const char *path)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_note("%s is not of the family that this agent was built for (%s)", path, chain_family);
    agent_process.state = AGENT_DORMANT;
}

void agent_give_up(const char *reason)
{
    agent_note("switched off: %s", reason);
    agent_process.state = AGENT_DORMANT;
    chain_stop();
}

static void tell_ending(enum agent_end end)
{
    if (agent_process.state != AGENT_RUNNING || ending_told) return;
    ending_told = true;
    agent_ending(end);
}

static void forked(void)
{
    if (agent_process.state == AGENT_ABSENT) return;
    agent_process.state = AGENT_DORMANT;
    chain_stop();
    agent_forked();
}

void agent_before_init_core(void)
{
    if (agent_process.state != AGENT_ARMED) return;
    clock_start();
    agent_process.init_ticks = clock_ticks();
    leave_environment();
}

bool agent_after_init_core(int rc, int level, bool sessions)
{
    if (rc != 0) return false;
    if (sessions)
        open_sessions++;
    else
        world_open = true;
    if (agent_process.state != AGENT_ARMED) return false;
    agent_process.start_ticks = clock_ticks();
    agent_process.sessions = sessions;
    agent_process.thread_level = level;
    requests_shared = level != 0 && level != 1 && level != 2;
    clock_calibrate();
    describe_process();
    chain_find_parts();
    chain_compare_names();
    chain_load_tools();
    pthread_atfork(NULL, NULL, forked);
    agent_process.state = AGENT_RUNNING;
    counts_start();
    null_start();
    chain_go();
    agent_started();
    return agent_process.state == AGENT_RUNNING;
}

static bool last_end(bool session)
{
    return session ? open_sessions == 1 && !world_open : true;
}

void agent_before_finalize_core(bool session)
{
    if (last_end(session)) tell_ending(AGENT_FINALIZE);
}

void agent_after_finalize_core(int rc, bool session)
{
    (void)rc; /* whatever it says, MPI is over */
    bool last = last_end(session);
    if (session)
        open_sessions--;
    else
        world_open = false;
    if (!last || agent_process.state != AGENT_RUNNING) return;
    agent_process.state = AGENT_ENDED;
    chain_stop();
    null_end();
    counts_write("finalize");
}

void agent_before_abort(void)
{
    if (agent_process.state != AGENT_RUNNING) return;
    tell_ending(AGENT_ABORT);
    agent_process.state = AGENT_ENDED;
    chain_stop();
    null_end();
    counts_write("abort");
}

__attribute__((destructor)) static void end(void)
{
    if (agent_process.state == AGENT_RUNNING) {
        tell_ending(AGENT_EXIT);
        agent_process.state = AGENT_ENDED;
        chain_stop();
        null_end();
        counts_write("exit");
    } else if (agent_process.state == AGENT_ARMED) {
        counts_write("unreached");
    }
}

int agent_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (rc != 0) return rc;
    rc = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
