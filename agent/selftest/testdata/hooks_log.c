/* hooks_log.c: a recording part for tests: writes every hook to the file that the key `log` names. Linked into the agent. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life/agent.h"

const char *const agent_sampler_keys[] = {"log", "countdown", "tell_due", NULL};
static FILE *file;
static int due, period;
static bool tell_due;

static void say(const char *format, ...)
{
    va_list arguments;
    if (!file) return;
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fputc('\n', file);
    fflush(file);
}

void agent_started(void)
{
    const char *path = agent_config("log", 0);
    if (!path || agent_process.rank > 0) return;
    file = fopen(path, "we");
    say("started rank %d of %d level %d sessions %d later %d", agent_process.rank, agent_process.size, agent_process.thread_level,
        agent_process.sessions, agent_process.loaded_later);
    chain_follow_objects(true);
    const char *countdown = agent_config("countdown", 0);
    tell_due = agent_config("tell_due", 0) != NULL;
    period = countdown ? atoi(countdown) : 0;
    if (period > 0) chain_countdown(agent_due);
}

void agent_ending(enum agent_end end) { say("ending %d due %d", end, due); }
void agent_world_ending(void) { say("world ending"); }
void agent_due(struct chain_thread *thread) 
{
    due++;
    thread->countdown = period - 1;
    if (tell_due) say("due");
}
void agent_comm_created(union mpi_handle comm, const char *how) { say("comm created %s%s", how, comm.number ? "" : " null"); }
void agent_comm_named(union mpi_handle comm, const char *name) { (void)comm; say("comm named %s", name); }
void agent_comm_freeing(union mpi_handle comm) { (void)comm; say("comm freeing"); }
void agent_win_created(union mpi_handle win, const char *how) { (void)win; say("win created %s", how); }
void agent_win_named(union mpi_handle win, const char *name) { (void)win; say("win named %s", name); }
void agent_win_freeing(union mpi_handle win) { (void)win; say("win freeing"); }
void agent_pcontrol(int level) { say("pcontrol %d", level); }
void agent_forked(void) { if (file) say("forked state %d", agent_process.state); }

/* The run has ended when this is said: the file is still open. */
void agent_unrecorded(const char *why) { say("unrecorded %s", why); }
