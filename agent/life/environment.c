/* environment.c: removes the agent from the environment of the application's children. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "life/life.h"

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

/* These options let programs with a sanitizer start with the agent. Users would write =0 and =1, so theirs are kept. */
static bool is_sanitizer_option(const char *item, size_t length)
{
    static const char *const options[] = {"verify_asan_link_order=false", "ignore_noninstrumented_modules=true"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (length == strlen(options[i]) && memcmp(item, options[i], length) == 0) return true;
    return false;
}

/* Removes items from a list in an environment variable. */
static void remove_items(const char *name, const char *separators, bool (*ours)(const char *item, size_t length))
{
    const char *list = getenv(name);
    char *rest = list ? memory_get(strlen(list) + 1) : NULL, *to = rest;
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

void agent_clean_environment(void)
{
    unsetenv(AGENT_VARIABLE);
    remove_items("LD_PRELOAD", ": ", is_agent);
    remove_items("ASAN_OPTIONS", ":", is_sanitizer_option);
    remove_items("TSAN_OPTIONS", ":", is_sanitizer_option);
}
