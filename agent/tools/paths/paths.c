/* paths.c: start and end. Nothing is asked before the process ends. */
#include "tools/paths/paths.h"

#include "run/process.h"

static bool on;

static bool wanted(void) { return agent_config_number("paths", 0) != 0; }

static void entering(void)
{
    if (wanted()) layers_follow();
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    layers_follow();
    on = paths_declare();
    if (!on) agent_note("paths: not recording: no room in the run");
}

static void ending(enum agent_end end)
{
    if (!on) return;
    bool asking = end == AGENT_FINALIZE;
    layers_write(asking);
    if (asking) {
        openmpi_write();
        sockets_write();
    }
    paths_add(&(struct paths_seen){.kind = "end", .name = asking ? "finalize" : "died", .rank = -1});
    paths_close();
    on = false;
}

static void forked(void) { on = false; }

static const char *const keys[] = {"paths", NULL};

const struct agent_tool paths_tool = {
    .name = "paths", .keys = keys, .entering = entering, .started = started, .ending = ending, .forked = forked};
