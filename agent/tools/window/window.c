/* window.c: the window that --after, --for and --window give. */
#include "tools/window/window.h"

#include <stdio.h>

#include "base/clock.h"
#include "include/mpitx.h"

uint64_t window_from, window_to = UINT64_MAX;
int window_phases = -1;

static AGENT_THREAD uint64_t inside; /* of the phases that it is in, the innermost one last: whether it was asked for */
static AGENT_THREAD bool level_inside;

static bool wanted(const char *phase) { return agent_config_matches("window", phase); }

static void add(int by) { __atomic_fetch_add(&window_phases, by, __ATOMIC_RELAXED); }

/* Without a phase, recording starts with the time; with one, with the first phase. */
static void preparing(void)
{
    uint64_t after = agent_config_number("after_ns", 0), lasts = agent_config_number("for_ns", 0);
    if (agent_config("window", 0)) window_phases = 0;
    if (after) window_from = agent_process.start_ticks + clock_from_nanoseconds(after);
    if (lasts) window_to = agent_process.start_ticks + clock_from_nanoseconds(after + lasts);
}

/* Levels over 2 and below 0 name phases, which last until another level, except 2. */
static void change_level(int level)
{
    char name[32];
    if (level == 2) return;
    if (level_inside) add(-1);
    snprintf(name, sizeof name, "level %d", level);
    level_inside = (level > 2 || level < 0) && wanted(name);
    if (level_inside) add(+1);
}

static void pcontrol(int level, const void *argument)
{
    if (window_phases < 0) return;
    if (level == MPITX_PHASE_BEGIN) {
        bool in = wanted(argument ? argument : "");
        inside = inside << 1 | in;
        if (in) add(+1);
    } else if (level == MPITX_PHASE_END) {
        if (inside & 1) add(-1);
        inside >>= 1;
    } else
        change_level(level);
}

static const char *const keys[] = {"after_ns", "for_ns", "window", NULL};

const struct agent_tool window_tool = {.name = "window", .keys = keys, .preparing = preparing, .pcontrol = pcontrol};
