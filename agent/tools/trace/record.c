/* record.c: what calls and messages record. */
#include "base/clock.h"
#include "chain/unwind.h"
#include "mpi/library.h"
#include "mpi/peers.h"
#include "mpi/requests.h"
#include "tools/algorithms/algorithms.h"
#include "tools/processor/processor.h"
#include "tools/trace/trace.h"
#include "tools/window/window.h"

#define NOINLINE __attribute__((noinline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

enum { ANY = -1, NOBODY = -2 }; /* peers and tags in events: any source, any tag; MPI_PROC_NULL */

uint32_t trace_no_text;
struct trace_types trace_types;

/* ---- parts ---- */

static bool unseen; /* calls returned while nothing was recorded */

static NOINLINE void record_part(struct mpitx_run *to, struct trace_thread *thread, uint64_t begin, uint64_t ticks)
{
    if (!__atomic_exchange_n(&unseen, false, __ATOMIC_RELAXED)) return;
    struct trace_part event = {begin, (uint32_t)__atomic_load_n(&requests_made, __ATOMIC_RELAXED), 0};
    trace_write(to, thread, trace_types.part, ticks, &event);
}

/* Whether a call returned within the window, and is recorded. An event precedes the first recorded call after
 * others. */
static inline __attribute__((always_inline)) bool in_part(struct mpitx_run *to, struct trace_thread *thread,
                                                          const struct chain_call *call)
{
    if (!window_open(call->leave)) {
        __atomic_store_n(&unseen, true, __ATOMIC_RELAXED);
        return false;
    }
    if (UNLIKELY(__atomic_load_n(&unseen, __ATOMIC_RELAXED))) record_part(to, thread, call->enter, call->leave);
    return true;
}

/* Receives that were posted within the window may have completed since. */
void trace_record_unseen(void)
{
    struct trace_thread *thread = unseen ? trace_find_thread() : NULL;
    uint64_t now = clock_ticks();
    if (thread) record_part(trace_run, thread, now, now);
}

/* ---- objects and peers ---- */

/* The peer of a call that has not reported it with a message. */
static void add_peer(struct trace_call *event, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    unsigned kind = chain_functions[call->function].kind;
    event->tag = d->tag == call_wildcards.any_tag && d->tag < 0 ? ANY : d->tag;
    if (d->peer == CALL_NONE) return;
    if (d->peer < 0) {
        event->peer = d->peer == call_wildcards.any_source ? ANY : NOBODY;
        return;
    }
    event->flags |= kind == CALL_COLLECTIVE ? TRACE_ROOT : kind == CALL_RMA ? TRACE_ONESIDED : 0;
    if (d->exclusive) event->flags |= TRACE_EXCLUSIVE;
    bool freed = chain_functions[call->function].traffic & CALL_FREES;
    if (!d->comm || freed || (call->rc != 0 && !call->abandoned)) return;
    struct call_peer world = peers_find(d->comm, kind == CALL_RMA, d->epoch, d->peer);
    event->peer = world.rank;
    event->job = world.job;
}

/* ---- messages ---- */

static uint32_t number_of(const struct call_completion *message, uint32_t object)
{
    struct call_peer peer = message->world;
    if (peer.job == CALL_NONE) return 0;
    if (peer.rank >= 0 && message->tag != CALL_NONE)
        return order_number(object, peer, message->tag, message->received);
    if (message->received) order_unseen();
    return 0;
}

static NOINLINE void record_hidden(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call,
                                   const struct call_completion *message, uint32_t object, uint32_t number)
{
    struct trace_hidden event = {call->enter, (uint32_t)message->request, number, object, message->world.rank,
                                 message->tag, message->world.job, TRACE_RECEIVED | (message->request == 0 &&
        thread->posting.posts_concurrently ? TRACE_CONCURRENT : 0u), 0};
    trace_write(to, thread, trace_types.hidden, call->leave, &event);
}

static NOINLINE void record_partitioned(struct mpitx_run *to, struct trace_thread *thread,
                                        const struct chain_call *call, const struct call_completion *message,
                                        uint32_t object)
{
    struct trace_partitioned event =
        {call->enter, (uint32_t)message->request, message->start, message->bytes, text_of_function(message->function),
         object, message->world.rank, message->tag, message->world.job,
         TRACE_PARTS | (message->received ? TRACE_RECEIVED : TRACE_SENT), message->channel,
         (uint32_t)message->partitions};
    trace_write(to, thread, trace_types.partitioned, call->leave, &event);
}

/* Messages are numbered also outside of the window, and while MPI_Pcontrol has switched the recording off. */
static inline __attribute__((always_inline)) void record_message(struct trace_thread *thread,
                                                                 const struct chain_call *call,
                                                                 const struct call_completion *message)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    uint32_t object = objects_of_call(&thread->object, call, message->comm, message->epoch, CALL_COMM);
    uint32_t number = message->partitions ? message->start : number_of(message, object);
    if (!to || !(trace_roles[call->function] & (TRACE_SELECTED | TRACE_HIDDEN)) || !in_part(to, thread, call)) return;
    if (UNLIKELY(trace_roles[call->function] & TRACE_HIDDEN)) {
        if (message->received && !message->partitions) record_hidden(to, thread, call, message, object, number);
        return;
    }
    if (UNLIKELY(message->partitions)) {
        record_partitioned(to, thread, call, message, object);
        return;
    }
    const struct trace_posting *posting = &thread->posting;
    bool concurrent = message->received ? message->request == 0 && posting->posts_concurrently
                                        : posting->sends_concurrently;
    struct trace_message *event = &thread->message, more;
    if (thread->held == call) {
        event = &more;
        if (!thread->written && thread->message.begin == call->enter)
            trace_write(to, thread, trace_types.message, call->leave, &thread->message);
        thread->written = true;
    }
    event->begin = call->enter;
    event->bytes = message->bytes;
    event->function = text_of_function(message->function);
    event->object = object;
    event->peer = message->world.rank;
    event->tag = message->tag;
    event->job = message->world.job;
    event->request = (uint32_t)message->request;
    event->sequence = number;
    event->flags = (message->received ? TRACE_RECEIVED : TRACE_SENT) | (message->estimated ? TRACE_ESTIMATED : 0u) |
                   (concurrent ? TRACE_CONCURRENT : 0u);
    if (event == &more)
        trace_write(to, thread, trace_types.message, call->leave, &more);
    else {
        thread->held = call;
        thread->written = false;
    }
}

static inline void completed(const struct chain_call *call, const struct call_completion *message)
{
    struct trace_thread *thread = trace_run ? trace_find_thread() : NULL;
    bool onesided = chain_functions[message->function].kind == CALL_RMA; /* the call has all of it */
    if (!thread || onesided) return;
    if (trace_begin(thread, call)) {
        record_message(thread, call, message);
        trace_end(thread);
    } else {
        order_unknown();
    }
}

/* Cancelled messages change the numbers of later ones, so they are recorded in any case. */
static void record_end(struct trace_thread *thread, const struct chain_call *call, const struct call_request_end *end)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    if (end->how != CALL_ENDED) {
        struct trace_cancel event = {(uint32_t)end->request, (uint32_t)end->how - CALL_CANCEL_ASKED,
                                     objects_of_call(&thread->object, call, end->comm, end->epoch, CALL_COMM),
                                     end->world.rank, end->tag, end->world.job,
                                     end->received ? TRACE_RECEIVED : TRACE_SENT, 0};
        trace_write(trace_run, thread, trace_types.cancel, call->leave ? call->leave : clock_ticks(), &event);
    }
    bool completes = end->how == CALL_ENDED || end->how == CALL_NOT_CANCELLED;
    if (!completes || !to || !(trace_roles[call->function] & TRACE_SELECTED) || !window_open(call->leave)) return;
    struct trace_done event = {(uint32_t)end->request, 0};
    trace_write(to, thread, trace_types.done, call->leave, &event);
}

static void request_ended(const struct chain_call *call, const struct call_request_end *end)
{
    struct trace_thread *thread = trace_run ? trace_find_thread() : NULL;
    if (!thread) return;
    if (trace_begin(thread, call)) {
        record_end(thread, call, end);
        trace_end(thread);
    } else if (end->how != CALL_ENDED) {
        order_unknown();
    }
}

/* Partitioned messages match only each other, in the order of their initialization (MPI-4.1, section 4.2). */
static void channel_made(const struct chain_call *call, struct call_channel *channel)
{
    struct trace_thread *thread = trace_run ? trace_find_thread() : NULL;
    if (!thread) return;
    if (!trace_begin(thread, call)) {
        order_unknown();
        return;
    }
    uint32_t object = objects_of_call(&thread->object, call, channel->comm, channel->epoch, CALL_COMM);
    if (channel->world.job != CALL_NONE && channel->world.rank >= 0)
        channel->number = order_channel(object, channel->world, channel->tag, channel->received);
    const struct trace_posting *posting = &thread->posting;
    bool concurrent = channel->received ? posting->posts_concurrently : posting->sends_concurrently;
    if (order_concurrent && (concurrent || !posting->active)) channel->number = 0;
    trace_end(thread);
}

static void write_post(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call, int type,
                       uint64_t request, uint32_t flags)
{
    struct trace_post event = {call->enter, (uint32_t)request, flags};
    trace_write(to, thread, type, call->leave, &event);
}

static void record_post(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call,
                        uint64_t request)
{
    write_post(to, thread, call, trace_types.post, request,
               TRACE_POSTS | (thread->posting.posts_concurrently ? TRACE_CONCURRENT : 0u));
}

static void restarted(const struct chain_call *call, uint64_t request, enum call_restart what)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = to && (trace_roles[call->function] & (TRACE_SELECTED | TRACE_HIDDEN))
                                  ? trace_find_thread() : NULL;
    if (!thread) return;
    if (!trace_begin(thread, call)) {
        order_unknown();
        return;
    }
    if (!in_part(to, thread, call))
        ;
    else if (what == CALL_RECEIVE_STARTED)
        record_post(to, thread, call, request);
    else if (what == CALL_PARTITIONED_STARTED)
        write_post(to, thread, call, trace_types.start, request, TRACE_POSTS);
    else
        write_post(to, thread, call, trace_types.post, request, 0);
    trace_end(thread);
}

/* ---- calls ---- */

static void enter(const struct chain_call *call)
{
    struct trace_thread *thread = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE) ? trace_find_thread() : NULL;
    if (thread) order_enter(thread, call);
}

/* A call with one message becomes one event. The messages of a call with several precede it, in order. */
static inline bool take_message(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call,
                                struct trace_call *event)
{
    const struct trace_message *message = &thread->message;
    const struct call_description *d = &call->description;
    if (thread->held != call) return false;
    thread->held = NULL;
    if (message->begin != call->enter) return false; /* of an earlier call, which was abandoned */
    if (UNLIKELY(d->sent + d->received > 1)) {
        if (!thread->written) trace_write(to, thread, trace_types.message, call->leave, message);
        return false;
    }
    event->request = message->request;
    event->sequence = message->sequence;
    event->bytes = message->bytes;
    event->object = message->object;
    event->peer = message->peer;
    event->tag = message->tag;
    event->job = message->job;
    event->flags = message->flags;
    return true;
}

/* Where the application calls MPI. The stack is walked only if a binding for another language calls. */
static inline uint64_t site_of(const struct chain_call *call)
{
    uint64_t site = (uintptr_t)call->address;
    if (UNLIKELY(library_is_between(site))) chain_sites(call, &site, 1);
    return site;
}

static inline uint32_t slot_of(const struct trace_call *call)
{
    uint64_t x = call->site ^ call->bytes << 24 ^ (uint64_t)(uint32_t)call->peer << 40 ^
                 (uint64_t)(uint32_t)call->tag << 12 ^ call->flags;
    return (uint32_t)((x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 58); /* of TRACE_SLOTS */
}

/* Whether a call differs from an earlier one only in times, request and sequence. */
static inline bool repeats(const struct trace_call *call, const struct trace_call *earlier)
{
    uint64_t differ = (call->site ^ earlier->site) | (call->bytes ^ earlier->bytes);
    uint32_t differ32 = (call->function ^ earlier->function) | (call->object ^ earlier->object) |
                        (uint32_t)(call->peer ^ earlier->peer) | (uint32_t)(call->tag ^ earlier->tag) |
                        (uint32_t)(call->job ^ earlier->job) | (call->flags ^ earlier->flags) |
                        (call->algorithm ^ earlier->algorithm);
    return (differ | differ32) == 0;
}

/* Most calls of a program repeat an earlier one of their thread. They are written in short. */
static inline __attribute__((always_inline)) void write_call(struct mpitx_run *to, struct trace_thread *thread,
                                                             uint64_t ticks, struct trace_call *call)
{
    if (UNLIKELY(thread->stream < 0) && (thread->stream = mpitx_run_thread_begin(to)) < 0) return;
    uint32_t number = slot_of(call);
    struct trace_slot *slot = &thread->slots[number];
    uint64_t lasted = ticks - call->begin;
    call->flags |= (number + 1) << TRACE_SLOT;
    if (slot->chunk && lasted <= UINT32_MAX && repeats(call, &slot->call)) {
        struct trace_repeat repeat = {number + 1, (uint32_t)lasted, call->request, call->sequence};
        if (mpitx_run_event_in(to, thread->stream, trace_types.repeat, ticks, &repeat, slot->chunk) == 0) return;
    }
    slot->chunk = 0;
    if (mpitx_run_event(to, thread->stream, trace_types.call, ticks, call) != 0) return;
    slot->call = *call;
    slot->chunk = mpitx_run_chunk(to, thread->stream);
}

/* Whether a call that makes a request has posted a receive: MPI_Mprobe does, MPI_Mrecv does not. */
static inline bool posts(const struct chain_call *call)
{
    const struct call_function *function = &chain_functions[call->function];
    return function->kind == CALL_POINT_TO_POINT &&
           ((function->traffic & CALL_RECEIVES) ? call->description.started : !(function->traffic & CALL_SENDS));
}

static inline __attribute__((always_inline)) void record_call(struct mpitx_run *to, struct trace_thread *thread,
                                                              const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    if (!in_part(to, thread, call)) {
        thread->held = NULL;
        order_leave(thread);
        return;
    }
    struct trace_call event = {.begin = call->enter, .site = site_of(call),
                               .function = text_of_function(call->function), .peer = CALL_NONE, .tag = CALL_NONE,
                               .algorithm = algorithms_known(call) ? algorithms_text(call) : trace_no_text};
    if (!call->described) thread->held = NULL;
    if (call->abandoned || (call->described && !take_message(to, thread, call, &event))) {
        event.bytes = d->sent_bytes + d->received_bytes + d->gave + d->got + d->read;
        event.object = objects_of_call(&thread->object, call, d->comm, d->epoch, objects_kind(call->function));
        add_peer(&event, call);
    }
    if (call->described && d->request) {
        event.request = (uint32_t)d->request;
        if (event.peer != NOBODY && posts(call))
            event.flags |= TRACE_POSTS | (thread->posting.posts_concurrently ? TRACE_CONCURRENT : 0u);
    }
    event.flags |= (call->abandoned ? TRACE_ABANDONED : call->rc != 0 ? TRACE_FAILED : 0u) |
                   (uint32_t)call->depth << TRACE_DEPTH;
    if (UNLIKELY(order_concurrent)) order_leave(thread);
    write_call(to, thread, call->leave, &event);
}

static NOINLINE void leave_hidden(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    int32_t source = chain_functions[call->function].traffic & CALL_SENDS ? d->source : d->peer;
    if (call->described && call->rc == 0 && d->request && source != call_wildcards.proc_null && posts(call) &&
        in_part(to, thread, call))
        record_post(to, thread, call, d->request);
    order_leave(thread);
}

static inline void leave(const struct chain_call *call)
{
    processor_leave(call);
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = to ? trace_find_thread() : NULL;
    if (!to) __atomic_store_n(&unseen, true, __ATOMIC_RELAXED);
    if (!thread || !call->enter || !trace_begin(thread, call)) return;
    if (UNLIKELY(trace_roles[call->function] & TRACE_HIDDEN))
        leave_hidden(to, thread, call);
    else
        record_call(to, thread, call);
    trace_end(thread);
}

const struct chain_observer trace_observer = {
    .name = "trace", .enter = enter, .leave = leave, .completed = completed, .request_ended = request_ended,
            .restarted = restarted, .channel_made = channel_made, .thread_end = trace_thread_end};

/* The calls that this thread is in will return after the end: MPI_Finalize, MPI_Abort. */
void trace_record_open_calls(void)
{
    const struct chain_thread *chain = &chain_thread;
    struct mpitx_run *to = trace_recording;
    struct trace_thread *thread = to ? trace_find_thread() : NULL;
    for (uint32_t i = chain->depth < CHAIN_FRAMES ? chain->depth : CHAIN_FRAMES; thread && i-- > 0;) {
        const struct chain_call *call = &chain->calls[i];
        if (!(trace_roles[call->function] & TRACE_SELECTED)) continue;
        uint64_t now = clock_ticks(); /* these calls have no time yet */
        if (!window_open(now)) return;
        struct trace_call event = {.begin = call->enter ? call->enter : now, .site = site_of(call),
                                   .function = text_of_function(call->function), .peer = CALL_NONE, .tag = CALL_NONE, .algorithm = trace_no_text,
                                   .flags = TRACE_OPEN | (uint32_t)call->depth << TRACE_DEPTH};
        write_call(to, thread, now, &event);
    }
}
