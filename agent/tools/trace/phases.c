/* phases.c: phases of the application, named by mpitx.h or by levels of MPI_Pcontrol, as events. */
#include <stdio.h>

#include "base/clock.h"
#include "include/mpitx.h"
#include "run/fields.h"
#include "tools/trace/trace.h"

static int type;

struct event {
    uint32_t phase, entered;
};

bool trace_phases_start(void)
{
    static const struct mpitx_run_field fields[] = {NAMED("phase"), NUMBER("entered", U32)};
    uint32_t bytes = 0;
    type = mpitx_run_declare_event(agent_run, "phase", fields, 2, &bytes);
    return type >= 0 && bytes == sizeof(struct event);
}

static void record(struct trace_thread *thread, uint32_t phase, bool entered)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct event event = {phase, entered};
    /* MPI_Pcontrol */
    const struct chain_call *call = &chain_thread.calls[chain_thread.depth ? chain_thread.depth - 1 : 0];
    if (!to || !trace_begin(thread, call)) return;
    trace_write(to, thread, type, clock_ticks(), &event);
    trace_end(thread);
}

/* Levels over 2 and below 0 name phases, which last until another level, except 2. */
static void change_level(struct trace_thread *thread, int level)
{
    char name[32];
    if (thread->level_phase) record(thread, thread->level_phase - 1, false);
    thread->level_phase = 0;
    if (level <= 2 && level >= 0) return;
    snprintf(name, sizeof name, "level %d", level);
    uint32_t phase = text_of_name(name);
    if (phase == TEXT_NONE) return;
    thread->level_phase = phase + 1;
    record(thread, phase, true);
}

void trace_phases_pcontrol(int level, const void *argument)
{
    struct trace_thread *thread = trace_find_thread();
    if (!thread || level == 2) return;
    if (level == MPITX_PHASE_BEGIN)
        record(thread, text_of_name(argument ? argument : ""), true);
    else if (level == MPITX_PHASE_END)
        record(thread, TEXT_NONE, false); /* the innermost one */
    else
        change_level(thread, level);
}
