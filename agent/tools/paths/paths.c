/* paths.c: start and end. Nothing is asked before the process ends. */
#include "tools/paths/paths.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/process.h"

static bool on;
static char filters[64]; /* of system calls, when MPI was initialized */

/* Which filters the process has: a call that they do not expect may kill it. */
static void read_filters(char *lines, size_t size)
{
    static char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    if (fd >= 0) close(fd);
    text[length > 0 ? length : 0] = 0;
    const char *found = strstr(text, "Seccomp:");
    snprintf(lines, size, "%s", found ? found : "");
}

static bool restricted(void)
{
    char now[sizeof filters] = "";
    read_filters(now, sizeof now);
    return strcmp(now, filters) != 0;
}

static bool wanted(void) { return agent_config_number("paths", 0) != 0; }

static void entering(void)
{
    if (wanted()) layers_follow();
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    layers_follow();
    read_filters(filters, sizeof filters);
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
