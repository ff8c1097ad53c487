#define _GNU_SOURCE
#include "life/life.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

void agent_configure(char *text)
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

/* With these options programs with a sanitizer start with the agent. Users would write =0 and =1. */
static bool is_sanitizer_option(const char *item, size_t length)
{
    static const char *const options[] = {"verify_asan_link_order=false", "ignore_noninstrumented_modules=true"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (length == strlen(options[i]) && memcmp(item, options[i], length) == 0) return true;
    return false;
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

void agent_leave_environment(void)
{
    unsetenv(AGENT_VARIABLE);
    leave_list("LD_PRELOAD", ": ", is_agent);
    leave_list("ASAN_OPTIONS", ":", is_sanitizer_option);
    leave_list("TSAN_OPTIONS", ":", is_sanitizer_option);
}

/* ---- threads ---- */

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
