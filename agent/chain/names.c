/* names.c: checks that the program finds the same MPI functions as without the agent.
 *
 * mpitx preloads a copy of the agent that hides the functions that the library lacks. The configuration key `library`
 * names the library. If mpitx could not make the copy, or if the program has loaded another library, a note says so. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/agent.h"
#include "chain/internal.h"

struct names {
    int count;
    char first[96];
};

static void add(struct names *names, const char *name)
{
    if (names->count++ == 0) snprintf(names->first, sizeof names->first, "%s", name);
}

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static void compare(void *self, struct names *surplus, struct names *hidden)
{
    char shifted[64] = "P";
    const char *const names[] = {shifted + 1, shifted};
    for (int i = 0; i < chain_function_count; i++) {
        if (!chain_library_calls[i]) continue; /* has no wrapper */
        snprintf(shifted + 1, sizeof shifted - 1, "%s", chain_functions[i].name);
        for (int k = 0; k < 2; k++) {
            bool shown = dlsym(self, names[k]), there = library_symbol(names[k]);
            if (shown && !there) add(surplus, names[k]);
            if (!shown && there) add(hidden, names[k]);
        }
    }
}

void chain_compare_names(void)
{
    const char *made_for = agent_config("library", 0), *reason = agent_config("unfit", 0);
    struct names surplus = {0}, hidden = {0};
    Dl_info info;
    if (made_for && same_file(made_for, agent_process.library)) return;
    if (!made_for && !reason) return; /* not started by mpitx */
    void *self = dladdr((void *)chain_compare_names, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (!self) return;
    compare(self, &surplus, &hidden);
    dlclose(self);
    dlerror();
    if (surplus.count)
        agent_note("the program finds %d functions that its MPI library does not have (%s, ...): %s", surplus.count,
                   surplus.first, reason ? reason : "it loaded another library than mpitx expected");
    if (hidden.count)
        agent_note("calls of %d functions are not seen (%s, ...): the program loaded %s, but mpitx expected %s; "
                   "choose the loaded one with --mpi", hidden.count, hidden.first, agent_process.library,
                   made_for ? made_for : "another library");
}
