/* fire.c: what happens when a condition becomes true: an event, a sample, MPI_Pcontrol for other tools, a signal. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "chain/internal.h"
#include "run/fields.h"
#include "tools/objects/objects.h"
#include "tools/trigger/trigger.h"

struct event {
    uint32_t number, function, object;
    int32_t peer, root, tag;
    uint64_t bytes, duration;
    uint64_t stack[TRIGGER_STACK];
    double values[PROGRAM_LOADS];
};

static const struct mpitx_run_field event_fields[] = {
    NUMBER("number", U32), NAMED("function"), NUMBER("object", U32), NUMBER("peer", I32), NUMBER("root", I32),
    NUMBER("tag", I32), BYTES("bytes"), NANOSECONDS("duration"), ADDRESS("stack", .count = TRIGGER_STACK),
    NUMBER("values", F64, .count = PROGRAM_LOADS),
};
static const struct mpitx_run_field row_fields[] = {
    NUMBER("number", U32), NAMED("condition"), NAMED("on"), NAMED("then"), NAMED("values", .count = PROGRAM_LOADS),
    NUMBER("checked", U64), NUMBER("held", U64), NUMBER("fired", U64), NUMBER("missed", U64), NUMBER("recorded", U64),
};

static int event_type, table;
static struct trigger_row rows[TRIGGER_MOST]; /* of threads that start */

bool trigger_declare(void)
{
    uint32_t event_bytes = 0, row_bytes = 0;
    event_type = mpitx_run_declare_event(agent_run, "trigger", event_fields, COUNT(event_fields), &event_bytes);
    table = mpitx_run_declare_table(agent_run, "triggers", row_fields, COUNT(row_fields), 1, &row_bytes);
    for (int i = 0; i < trigger_count; i++) {
        const struct trigger *t = &triggers[i];
        rows[i] = (struct trigger_row){.number = t->number, .condition = text_of(t->text),
                                       .on = text_of(t->on ? t->on : ""), .then = text_of(t->then)};
        for (int k = 0; k < PROGRAM_LOADS; k++) rows[i].values[k] = t->values[k] ? text_of(t->values[k]) : text_empty();
    }
    return event_type >= 0 && table >= 0 && event_bytes == sizeof(struct event) &&
           row_bytes == sizeof(struct trigger_row);
}

struct trigger_row *trigger_row(struct trigger_thread *thread, const struct trigger *t)
{
    struct trigger_row **row = &thread->rows[t->number];
    if (__builtin_expect(!*row, 0)) *row = (struct trigger_row *)mpitx_run_row(agent_run, table, &rows[t->number]);
    return *row;
}

/* ---- events ---- */

static bool record(struct trigger_thread *thread, const struct trigger_check *check)
{
    const struct chain_call *call = check->subject.call;
    const struct call_description *d = &call->description;
    struct trigger *t = check->trigger;
    if (atomic_fetch_add_explicit(&t->events, 1, memory_order_relaxed) >= TRIGGER_EVENTS) {
        atomic_store_explicit(&t->events, TRIGGER_EVENTS, memory_order_relaxed);
        return false;
    }
    struct event event = {.number = t->number, .function = text_of_function(call->function), .peer = CALL_NONE,
                          .root = CALL_NONE, .tag = CALL_NONE};
    if (call->described) {
        *(chain_functions[call->function].kind == CALL_COLLECTIVE ? &event.root : &event.peer) = d->peer;
        event.tag = d->tag;
        event.bytes = d->sent_bytes + d->received_bytes + d->gave + d->got + d->read;
        event.object = d->comm
                       ? objects_at(objects_kind(call->function), d->comm, d->epoch, t->at_return && call->rc == 0) : 0;
    }
    if (call->leave > call->enter) event.duration = clock_nanoseconds(call->leave - call->enter);
    chain_sites(call, event.stack, t->actions & TRIGGER_BACKTRACE ? TRIGGER_STACK : 1);
    mpitx_run_follow_modules(agent_run);
    memcpy(event.values, check->values, sizeof event.values);
    if (thread->stream < 0) thread->stream = mpitx_run_thread_begin(agent_run);
    return thread->stream >= 0 &&
           mpitx_run_event(agent_run, thread->stream, event_type, check->now ? check->now : clock_ticks(), &event) == 0;
}

void trigger_fire(struct trigger_thread *thread, struct trigger_check *check)
{
    const struct trigger *t = check->trigger;
    int saved = errno;
    bool recorded = (t->actions & TRIGGER_EVENT) && record(thread, check);
    struct trigger_row *row = trigger_row(thread, t);
    if (row && mpitx_run_row_begin(agent_run, &row->head)) {
        row->fired++;
        row->recorded += recorded;
        mpitx_run_row_end(&row->head);
    }
    if ((t->actions & TRIGGER_SAMPLE) && trigger_lock()) {
        sampler_take_now(check->subject.call->depth == 0);
        sampler_unlock();
    }
    if (t->actions & TRIGGER_PCONTROL) chain_owner->pcontrol(t->level, NULL);
    errno = saved;
    if (t->actions & TRIGGER_STOP) raise(t->signal);
}
