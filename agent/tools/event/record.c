/* record.c: what the library calls when an event occurs, or when it has dropped some. It may be in any thread and
 * inside of any call, maybe with locks held: nothing here allocates, waits for a lock or calls MPI, except what MPI
 * gives callbacks for their event. */
#define _GNU_SOURCE
#include <string.h>

#include "tools/event/event.h"
#include "tools/window/window.h"

_Atomic(struct mpitx_run *) event_run;
atomic_int event_inside;

static AGENT_THREAD int stream_plus_one;
static AGENT_THREAD char *recording; /* the stack address of the callback of this thread that records; NULL: none */

/* Whether this thread is in the middle of recording another event, as in a signal handler. A handler's frame is below
 * the one that it interrupted. If the recorded address is below, that callback was left by siglongjmp. */
static bool interrupts(char *frame) { return recording && frame < recording; }

static void add(uint64_t *count, uint64_t n) { __atomic_fetch_add(count, n, __ATOMIC_RELAXED); }

struct mpitx_run *event_enter(uint64_t now)
{
    atomic_fetch_add(&event_inside, 1);
    return window_open(now) ? atomic_load(&event_run) : NULL;
}

void event_leave(void) { atomic_fetch_sub(&event_inside, 1); }

bool event_write(struct mpitx_run *run, int type, uint64_t time, const void *event)
{
    char frame;
    if (interrupts(&frame)) return false;
    recording = &frame;
    atomic_signal_fence(memory_order_seq_cst);
    if (!stream_plus_one) {
        stream_plus_one = mpitx_run_thread_begin(run) + 1;
        mpitx_run_thread_never_waits(run, stream_plus_one - 1);
    }
    bool ok = stream_plus_one > 0 && mpitx_run_event(run, stream_plus_one - 1, type, time, event) == 0;
    atomic_signal_fence(memory_order_seq_cst);
    recording = NULL;
    return ok;
}

static bool copy(const struct event_registration *r, mpitx_handle instance, void *event)
{
    const struct event_type *type = r->type;
    struct event_head *head = event;
    _Alignas(16) char data[EVENT_BYTES + EVENT_SLACK];
    int source = -1;
    if (type->element_count && pvar.table->event_copy(instance, data) != MPITX_SUCCESS) return false;
    if (pvar.table->event_get_source(instance, &source) != MPITX_SUCCESS) source = -1;
    if (pvar.table->event_get_timestamp(instance, &head->timestamp) != MPITX_SUCCESS) head->timestamp = -1;
    head->source = (uint32_t)source;
    head->object = r->object;
    event_source_time(source, head->timestamp);
    for (uint32_t i = 0; i < type->element_count; i++)
        memcpy((char *)event + type->elements[i].to, data + type->elements[i].from, type->elements[i].bytes);
    return true;
}

void event_received(mpitx_handle instance, mpitx_handle registration, int safety, void *user_data)
{
    const struct event_registration *r = user_data;
    (void)registration;
    uint64_t now = clock_ticks();
    struct mpitx_run *run = event_enter(now);
    if (run) {
        _Alignas(8) char event[sizeof(struct event_head) + 8 * EVENT_ELEMENTS];
        struct event_row *row = r->type->row;
        add(instance ? &row->received : &row->late, 1); /* 0: the registration was freed */
        if (instance && r->type->run_type >= 0) {
            bool ok = safety < MPITX_CB_REQUIRE_ASYNC_SIGNAL_SAFE && copy(r, instance, event) &&
                      event_write(run, r->type->run_type, now, event);
            add(ok ? &row->recorded : &row->refused, 1);
        }
    }
    event_leave();
}

void event_thread_end(void)
{
    struct mpitx_run *run = atomic_load(&event_run);
    if (run && stream_plus_one > 0) mpitx_run_thread_end(run, stream_plus_one - 1);
    stream_plus_one = 0;
}

void event_dropped(int64_t count, mpitx_handle registration, int source, int safety, void *user_data)
{
    const struct event_registration *r = user_data;
    (void)registration;
    (void)safety;
    if (event_enter(clock_ticks()) && count > 0) {
        add(&r->type->row->dropped, (uint64_t)count);
        event_source_dropped(source, count);
    }
    event_leave();
}
