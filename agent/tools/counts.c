/* counts.c: a tool for debugging. The configuration key counts=FILE (%p: process ID, %r: rank) counts every call and
 * writes the file at MPI_Finalize, MPI_Abort or exit. variable=NAME, which may be repeated, adds virtual variables. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/clock.h"
#include "base/memory.h"
#include "tools/tally/virtual.h"
#include "tools/tool.h"

static struct {
    uint64_t calls, nested, abandoned;
} *counts;

static void left(const struct chain_call *call)
{
    __atomic_fetch_add(&counts[call->function].calls, 1, __ATOMIC_RELAXED);
    if (call->depth > 0) __atomic_fetch_add(&counts[call->function].nested, 1, __ATOMIC_RELAXED);
    if (call->abandoned) __atomic_fetch_add(&counts[call->function].abandoned, 1, __ATOMIC_RELAXED);
}

static const struct chain_observer counts_observer = {.name = "counts", .leave = left};

static void started(void)
{
    const char *name;
    for (int i = 0; (name = agent_config("variable", i)); i++)
        if (virtual_activate(virtual_find(name), true) != 0) agent_note("unknown variable %s", name);
    if (!agent_config("counts", 0)) return;
    counts = memory_new((size_t)chain_function_count, sizeof *counts);
    if (counts && !agent_config("variable", 0)) chain_observe(&counts_observer, -1, CHAIN_LEAVE);
}

static void expand(char *path, size_t size, const char *pattern)
{
    size_t length = 0;
    for (; *pattern && length + 16 < size; pattern++) {
        if (pattern[0] == '%' && (pattern[1] == 'p' || pattern[1] == 'r'))
            length += (size_t)snprintf(path + length, size - length, "%d",
                                       *++pattern == 'p' ? (int)getpid() : agent_process.rank);
        else
            path[length++] = *pattern;
    }
    path[length] = 0;
}

static void ended(const char *when)
{
    const char *pattern = agent_config("counts", 0), *name;
    if (!pattern) return;
    char path[4096];
    expand(path, sizeof path, pattern);
    FILE *file = fopen(path, "we");
    if (!file) return;
    fprintf(file, "end %s\nrank %d of %d\nlevel %d\n", when, agent_process.rank, agent_process.size,
            agent_process.thread_level);
    for (int i = 0; counts && i < chain_function_count; i++)
        if (counts[i].calls)
            fprintf(file, "%s %llu nested %llu abandoned %llu\n", chain_functions[i].name,
                    (unsigned long long)counts[i].calls, (unsigned long long)counts[i].nested,
                    (unsigned long long)counts[i].abandoned);
    for (int i = 0; (name = agent_config("variable", i)); i++)
        fprintf(file, "%s %llu\n", name, (unsigned long long)virtual_read(virtual_find(name), clock_ticks()));
    struct chain_losses losses = chain_losses();
    fprintf(file, "lost %llu %llu %llu\n", (unsigned long long)(losses.requests + losses.locked),
            (unsigned long long)losses.frames, (unsigned long long)losses.memory);
    for (int i = 0; agent_note_text(i); i++) fprintf(file, "note %s\n", agent_note_text(i));
    fclose(file);
}

static const char *const keys[] = {"counts", "variable", NULL};

const struct agent_tool counts_tool = {.name = "counts", .keys = keys, .started = started, .ended = ended};
