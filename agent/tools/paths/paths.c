/* paths.c: start and end. Nothing is asked before the process ends. */
#include "tools/paths/paths.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "run/process.h"

static bool on;
/* Which filters of system calls the process has: "Seccomp:" and "Seccomp_filters:" of its status. */
struct filters {
    char text[64];
};
static struct filters at_start, now;

static void add_filter(char *line)
{
    size_t used = strlen(now.text);
    if (strncmp(line, "Seccomp", 7) == 0) snprintf(now.text + used, sizeof now.text - used, "%s", line);
}

static struct filters read_filters(void)
{
    now = (struct filters){""};
    file_lines("/proc/self/status", add_filter);
    return now;
}

/* A call that a filter of the program does not expect may kill it. */
static bool restricted(void) { return strcmp(read_filters().text, at_start.text) != 0; }

static bool wanted(void) { return agent_config_number("paths", 0) != 0; }

static void entering(void)
{
    if (wanted()) layers_follow();
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    layers_follow();
    at_start = read_filters();
    on = paths_declare();
    if (!on) agent_note("paths: not recording: no room in the run");
}

static void ending(enum agent_end end)
{
    if (!on) return;
    bool asking = end == AGENT_FINALIZE && !restricted();
    layers_write(asking);
    if (asking) {
        openmpi_write();
        sockets_write();
    }
    paths_add(&(struct paths_seen){.kind = "end", .name = asking ? "finalize" : end == AGENT_FINALIZE ? "restricted" : "died", .rank = -1});
    paths_close();
    on = false;
}

static void forked(void) { on = false; }

static const char *const keys[] = {"paths", NULL};

const struct agent_tool paths_tool = {
    .name = "paths", .keys = keys, .entering = entering, .started = started, .ending = ending, .forked = forked};
