/* phases.c: phases of the application, named by mpitx.h or by levels of MPI_Pcontrol. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "include/mpitx.h"
#include "run/fields.h"
#include "tools/profile/profile.h"

static uint32_t none;

uint32_t phases_process;
static int event_type = -1;
static AGENT_THREAD bool leads; /* this thread initialized MPI: its phases hold for threads without their own */

struct event {
    uint32_t phase, entered;
};

bool phases_start(void)
{
    static const struct mpitx_run_field fields[] = {NAMED("phase"), NUMBER("entered", U32)};
    uint32_t bytes = 0;
    phases_process = none = text_empty();
    leads = true;
    event_type = mpitx_run_declare_event(agent_run, "phase", fields, 2, &bytes);
    return event_type >= 0 && bytes == sizeof(struct event);
}

static uint32_t text_of_phase(const char *name)
{
    uint32_t text = text_of_name(name);
    return text == TEXT_NONE ? none : text;
}

/* ---- entering and leaving ---- */

static void write_event(struct profile_thread *thread, uint32_t phase, bool entered, uint64_t now)
{
    struct event event = {phase, entered};
    if (thread->stream < 0) thread->stream = mpitx_run_thread_begin(agent_run);
    if (thread->stream >= 0) mpitx_run_event(agent_run, thread->stream, event_type, now, &event);
}

static struct phases_row *begin_row(struct profile_thread *thread, uint32_t phase, uint64_t now)
{
    uint64_t key = phase;
    struct mpitx_run_row *row = rows_find(&thread->phases, &key, PHASES_WORDS, rows_hash(&key, PHASES_WORDS));
    if (!row) row = profile_add_phase(thread, key, now);
    return mpitx_run_row_begin(agent_run, row) ? (struct phases_row *)row : NULL;
}

static void set_process_phase(const struct profile_thread *thread)
{
    if (leads) __atomic_store_n(&phases_process, thread->phase_depth ? phase_of(thread) : none, __ATOMIC_RELAXED);
}

static void enter_phase(struct profile_thread *thread, const char *name, bool level)
{
    uint64_t now = clock_ticks();
    uint32_t depth = thread->phase_depth++;
    if (depth >= PHASES_DEEP) {
        static bool reported;
        if (!__atomic_exchange_n(&reported, true, __ATOMIC_RELAXED))
            agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_REDUCED,
                              "phases are nested more than 16 deep: deeper ones count as part of the phase around "
                              "them");
        return;
    }
    uint32_t phase = text_of_phase(name);
    thread->phases_in[depth].phase = phase;
    thread->phases_in[depth].since = now;
    thread->phases_in[depth].inner = 0;
    thread->phases_in[depth].level = level;
    set_process_phase(thread);
    write_event(thread, phase, true, now);
    struct phases_row *row = begin_row(thread, phase, now);
    if (!row) return;
    row->entered++;
    row->last = now;
    mpitx_run_row_end(&row->head);
}

static void leave_phase(struct profile_thread *thread)
{
    if (thread->phase_depth == 0 || --thread->phase_depth >= PHASES_DEEP) return;
    uint32_t depth = thread->phase_depth, phase = thread->phases_in[depth].phase;
    uint64_t now = clock_ticks(), ticks = now - thread->phases_in[depth].since, inner = thread->phases_in[depth].inner;
    if (depth) thread->phases_in[depth - 1].inner += ticks;
    set_process_phase(thread);
    write_event(thread, phase, false, now);
    struct phases_row *row = begin_row(thread, phase, now);
    if (!row) return;
    row->ticks += ticks;
    row->self += ticks - inner;
    row->last = now;
    mpitx_run_row_end(&row->head);
}

/* Levels over 2 and below 0 name phases, which last until another level, except 2. */
static void change_level(struct profile_thread *thread, int level)
{
    char name[32];
    uint32_t depth = thread->phase_depth;
    if (depth && depth <= PHASES_DEEP && thread->phases_in[depth - 1].level) leave_phase(thread);
    if (level <= 2 && level >= 0) return;
    snprintf(name, sizeof name, "level %d", level);
    enter_phase(thread, name, true);
}

void phases_pcontrol(int level, const void *argument)
{
    struct profile_thread *thread = profile_find_thread();
    if (!thread || level == 2) return;
    if (level == MPITX_PHASE_BEGIN)
        enter_phase(thread, argument ? argument : "", false);
    else if (level == MPITX_PHASE_END)
        leave_phase(thread);
    else
        change_level(thread, level);
}

void phases_end(void)
{
    struct profile_thread *thread = profile_thread;
    while (thread && thread->phase_depth) leave_phase(thread);
}
