/* log.c: a tool for tests that writes every callback, and messages, to the file of the key `log`. Linked into the agent. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/tool.h"

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

static void count_due(struct chain_thread *thread)
{
    due++;
    thread->countdown = period - 1;
    if (tell_due) say("due");
}

/* Writes the messages of each process to a file in the folder of the key `messages`. */
static FILE *messages;

static void completed(const struct chain_call *call, const struct call_completion *c)
{
    fprintf(messages, "%s %s %d of %s", chain_functions[c->function].name, c->received ? "from" : "to", c->peer,
            c->comm == agent_process.world ? "world" : c->comm ? "other" : "unknown");
    if (c->world.job == CALL_NONE) fprintf(messages, " unknown");
    else if (c->world.job == CALL_PARENT) fprintf(messages, " parent");
    else fprintf(messages, " %d:%d", c->world.job, c->world.rank);
    if (c->tag != CALL_NONE) fprintf(messages, " tag %d", c->tag);
    fprintf(messages, " %llu bytes%s", (unsigned long long)c->bytes, c->estimated ? " estimated" : "");
    if (call->function != c->function) fprintf(messages, " in %s", chain_functions[call->function].name);
    fputc('\n', messages);
    fflush(messages);
}

static void follow_messages(const char *folder)
{
    static const struct chain_observer observer = {.name = "messages", .completed = completed};
    char path[4096];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%d.%d", folder, agent_process.rank, (int)getpid());
    messages = fopen(path, "we");
    if (messages) chain_observe(&observer, -1, CHAIN_DESCRIPTION | CHAIN_COMPLETIONS);
}

static void started(void)
{
    follow_messages(agent_config("messages", 0));
    const char *path = agent_config("log", 0);
    if (!path || agent_process.rank > 0) return;
    file = fopen(path, "we");
    say("started rank %d of %d level %d sessions %d later %d", agent_process.rank, agent_process.size, agent_process.thread_level,
        agent_process.sessions, agent_process.loaded_later);
    chain_follow_objects(true);
    const char *countdown = agent_config("countdown", 0);
    tell_due = agent_config("tell_due", 0) != NULL;
    period = countdown ? atoi(countdown) : 0;
    if (period > 0) chain_countdown(count_due);
}

static void ending(enum agent_end end) { say("ending %d due %d", end, due); }
static void world_ending(void) { say("world ending"); }

static void object(const struct chain_object *object)
{
    const char *what = object->kind == CALL_WIN ? "win" : object->kind == CALL_FILE ? "file" : "comm";
    switch (object->event) {
    case CHAIN_OBJECT_MADE: say("%s created %s%s", what, object->text, object->handle.number ? "" : " null"); break;
    case CHAIN_OBJECT_NAMED: say("%s named %s", what, object->text); break;
    case CHAIN_OBJECT_FREEING: say("%s freeing", what); break;
    }
}

static void pcontrol(int level, const void *argument) { (void)argument, say("pcontrol %d", level); }
static void forked(void) { if (file) say("forked state %d", agent_process.state); }

/* The run has ended at this callback, but the file is still open. */
static void unrecorded(const char *why) { say("unrecorded %s", why); }

static const char *const keys[] = {"log", "countdown", "tell_due", "messages", NULL};

const struct agent_tool log_tool = {
    .name = "log", .keys = keys, .unrecorded = unrecorded, .started = started, .object = object,
    .pcontrol = pcontrol, .world_ending = world_ending, .ending = ending, .forked = forked,
};
