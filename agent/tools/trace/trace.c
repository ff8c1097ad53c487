/* trace.c: what calls and messages record; settings, start and end. */
#include "tools/trace/trace.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mpi/peers.h"
#include "tools/window/window.h"

#define NOINLINE __attribute__((noinline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define COUNT(array) (uint32_t)(sizeof(array) / sizeof *(array))

enum { CHUNK_BYTES = 256 << 10, POOL_BYTES = 64 << 20 };
enum { ANY = -1, NOBODY = -2 }; /* peers and tags in events: any source, any tag; MPI_PROC_NULL */
enum { SELECTED = 1, ORDERED = 2, PARTITIONED = 4 };

struct mpitx_run *trace_recording;
static struct mpitx_run *run; /* NULL: not recording */
static uint8_t *roles;        /* by function */
static int call_type, message_type, post_type;

/* ---- threads ---- */

AGENT_THREAD struct trace_thread *trace_thread;
struct trace_thread *trace_threads;
static struct trace_thread *free_threads;
static bool taking;

/* A thread that has ended, or NULL. Two threads do not wait for each other: one of them gets a new one. */
static struct trace_thread *reuse(void)
{
    if (__atomic_exchange_n(&taking, true, __ATOMIC_ACQUIRE)) return NULL;
    struct trace_thread *thread = __atomic_load_n(&free_threads, __ATOMIC_ACQUIRE);
    while (thread && !__atomic_compare_exchange_n(&free_threads, &thread, thread->next_free, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) continue;
    __atomic_store_n(&taking, false, __ATOMIC_RELEASE);
    return thread;
}

NOINLINE struct trace_thread *trace_thread_new(void)
{
    struct trace_thread *new = reuse();
    if (!new) {
        if (!(new = calloc(1, sizeof *new))) return NULL;
        new->next = __atomic_load_n(&trace_threads, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&trace_threads, &new->next, new, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) continue;
    }
    new->stream = -1;
    new->held = NULL;
    new->level_phase = 0;
    new->known.handle = 0;
    return trace_thread = new;
}

static void thread_end(void)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = trace_thread;
    if (!thread) return;
    if (to && thread->stream >= 0) mpitx_run_thread_end(to, thread->stream);
    order_leave(thread);
    thread->next_free = __atomic_load_n(&free_threads, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&free_threads, &thread->next_free, thread, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) continue;
    trace_thread = NULL;
}

/* ---- objects and peers ---- */

static NOINLINE uint32_t other_object(struct trace_thread *thread, const struct chain_call *call, uint64_t handle, uint32_t epoch, enum call_object kind)
{
    if (chain_functions[call->function].traffic & CALL_FREES) return objects_find_freed(kind, handle);
    uint32_t object = call->rc == 0 ? objects_learn(kind, handle) : objects_find(kind, handle);
    if (!object) return 0;
    thread->known.handle = handle;
    thread->known.epoch = epoch;
    thread->known.kind = kind;
    return thread->known.object = object;
}

static inline uint32_t object_of(struct trace_thread *thread, const struct chain_call *call, uint64_t handle, enum call_object kind)
{
    if (!handle) return 0;
    uint32_t epoch = peers_epoch(handle);
    if (thread->known.handle == handle && thread->known.epoch == epoch && thread->known.kind == kind) return thread->known.object;
    return other_object(thread, call, handle, epoch, kind);
}

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
    bool freed = chain_functions[call->function].traffic & CALL_FREES;
    if (!d->comm || freed || call->rc != 0) return;
    struct call_peer world = peers_find(d->comm, kind == CALL_RMA, peers_epoch(d->comm), d->peer);
    event->peer = world.rank;
    event->job = world.job;
}

/* ---- messages ---- */

static uint32_t number_of(const struct call_completion *message, uint32_t object)
{
    if (message->world.job != 0) return 0;
    if (message->world.rank >= 0 && message->tag != CALL_NONE) return order_number(object, message->world.rank, message->tag, message->received);
    if (message->received) order_unseen();
    return 0;
}

/* Messages are numbered also outside of the window, and while MPI_Pcontrol has switched the recording off. */
static inline void completed(const struct chain_call *call, const struct call_completion *message)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = run ? trace_find_thread() : NULL;
    if (!thread) return;
    bool onesided = chain_functions[message->function].kind == CALL_RMA;
    if (onesided) return; /* the call has all of it */
    uint32_t object = object_of(thread, call, message->comm, CALL_COMM);
    uint32_t number = number_of(message, object);
    if (!to || !(roles[call->function] & SELECTED) || !window_open(call->leave)) return;
    const struct trace_posting *posting = &thread->posting;
    bool concurrent = message->received ? message->request == 0 && posting->posts_concurrently : posting->sends_concurrently;
    struct trace_message *event = &thread->message, more;
    if (thread->held == call) event = &more;
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
                   (concurrent || (roles[message->function] & PARTITIONED) ? TRACE_CONCURRENT : 0u);
    if (event == &more)
        trace_write(to, thread, message_type, call->leave, &more);
    else
        thread->held = call;
}

static void restarted(const struct chain_call *call, uint64_t request)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = to && (roles[call->function] & SELECTED) ? trace_find_thread() : NULL;
    if (!thread) return;
    if (!window_open(call->leave)) return;
    struct trace_post event = {call->enter, (uint32_t)request, TRACE_POSTS | (thread->posting.posts_concurrently ? TRACE_CONCURRENT : 0u)};
    trace_write(to, thread, post_type, call->leave, &event);
}

/* ---- calls ---- */

static void enter(const struct chain_call *call)
{
    struct trace_thread *thread = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE) ? trace_find_thread() : NULL;
    if (thread) order_enter(thread, call);
}

/* A call with one message becomes one event. If other messages were written before the first one, that does not matter: all of them
 * have the time of the call's end. */
static inline bool take_message(struct mpitx_run *to, struct trace_thread *thread, const struct chain_call *call, struct trace_call *event)
{
    const struct trace_message *message = &thread->message;
    const struct call_description *d = &call->description;
    if (thread->held != call) return false;
    thread->held = NULL;
    if (message->begin != call->enter) return false; /* of an earlier call, which was abandoned */
    if (UNLIKELY(d->sent + d->received > 1)) {
        trace_write(to, thread, message_type, call->leave, message);
        return false;
    }
    memcpy(&event->object, &message->object, sizeof *event - offsetof(struct trace_call, object));
    event->bytes = message->bytes;
    return true;
}

static inline void leave(const struct chain_call *call)
{
    struct mpitx_run *to = __atomic_load_n(&trace_recording, __ATOMIC_ACQUIRE);
    struct trace_thread *thread = to ? trace_find_thread() : NULL;
    if (!thread || !call->enter) return;
    const struct call_description *d = &call->description;
    if (!window_open(call->leave)) {
        thread->held = NULL;
        order_leave(thread);
        return;
    }
    struct trace_call event = {.begin = call->enter, .site = trace_site(call), .function = text_of_function(call->function),
                               .peer = CALL_NONE, .tag = CALL_NONE};
    if (!call->described) {
        thread->held = NULL;
    } else if (!take_message(to, thread, call, &event)) {
        event.bytes = d->sent_bytes + d->received_bytes + d->gave + d->got + d->read;
        event.object = object_of(thread, call, d->comm, objects_kind(call->function));
        add_peer(&event, call);
    }
    if (call->described && d->request) {
        const struct call_function *function = &chain_functions[call->function];
        event.request = (uint32_t)d->request;
        if (function->kind == CALL_POINT_TO_POINT && event.peer != NOBODY &&
            ((function->traffic & CALL_RECEIVES) ? d->started : !(function->traffic & CALL_SENDS))) /* MPI_Mprobe posts, MPI_Mrecv does not */
            event.flags |= TRACE_POSTS | (thread->posting.posts_concurrently ? TRACE_CONCURRENT : 0u);
    }
    event.flags |= (call->rc != 0 ? TRACE_FAILED : 0u) | (call->abandoned ? TRACE_ABANDONED : 0u) | (uint32_t)call->depth << TRACE_DEPTH;
    if (UNLIKELY(order_concurrent)) order_leave(thread);
    trace_write(to, thread, call_type, call->leave, &event);
}

static const struct chain_observer trace_observer = {
    .name = "trace", .enter = enter, .leave = leave, .completed = completed, .restarted = restarted, .thread_end = thread_end};

/* ---- life ---- */

static bool wanted(void)
{
    const char *text = agent_config("trace", 0);
    return text && strcmp(text, "record") == 0;
}

static void preparing(void)
{
    if (!wanted()) return;
    agent_run_options.dir = agent_config("dir", 0);
    agent_run_options.chunk_bytes = CHUNK_BYTES;
    agent_run_options.pool_bytes = POOL_BYTES;
}

static bool selected(const char *name)
{
    const char *pattern = agent_config("functions", 0);
    if (!pattern) return true;
    for (int i = 0; (pattern = agent_config("functions", i)); i++)
        if (fnmatch(pattern, name, 0) == 0) return true;
    return false;
}

#define TIME(field) {.name = field, .type = MPITX_RUN_U64, .meaning = MPITX_RUN_TIME}
#define NUMBER(field) {.name = field, .type = MPITX_RUN_U32}
#define SIGNED(field) {.name = field, .type = MPITX_RUN_I32}
#define BYTES {.name = "bytes", .type = MPITX_RUN_U64, .unit = "B"}
#define FUNCTION {.name = "function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT}
#define MESSAGE FUNCTION, NUMBER("object"), SIGNED("peer"), SIGNED("tag"), SIGNED("job"), NUMBER("request"), NUMBER("sequence"), NUMBER("flags")

static bool declare(void)
{
    static const struct mpitx_run_field call[] = {TIME("begin"), {.name = "site", .type = MPITX_RUN_U64, .meaning = MPITX_RUN_ADDRESS}, BYTES, MESSAGE};
    static const struct mpitx_run_field message[] = {TIME("begin"), BYTES, MESSAGE};
    static const struct mpitx_run_field post[] = {TIME("begin"), NUMBER("request"), NUMBER("flags")};
    uint32_t bytes[3] = {0};
    call_type = mpitx_run_declare_event(agent_run, "trace call", call, COUNT(call), &bytes[0]);
    message_type = mpitx_run_declare_event(agent_run, "trace message", message, COUNT(message), &bytes[1]);
    post_type = mpitx_run_declare_event(agent_run, "trace post", post, COUNT(post), &bytes[2]);
    return call_type >= 0 && message_type >= 0 && post_type >= 0 && bytes[0] == sizeof(struct trace_call) &&
           bytes[1] == sizeof(struct trace_message) && bytes[2] == sizeof(struct trace_post);
}

/* Messages are numbered also in functions that are not selected. */
static bool observe(void)
{
    roles = calloc((size_t)chain_function_count, sizeof *roles);
    if (!roles) return false;
    for (int i = 0; i < chain_function_count; i++) {
        const struct call_function *function = &chain_functions[i];
        const char *name = function->name;
        bool probe = strcmp(name, "MPI_Mprobe") == 0 || strcmp(name, "MPI_Improbe") == 0, start = strcmp(name, "MPI_Start") == 0 || strcmp(name, "MPI_Startall") == 0;
        bool moves = function->kind == CALL_POINT_TO_POINT && (function->traffic & (CALL_SENDS | CALL_RECEIVES));
        bool carries = moves || (function->traffic & (CALL_REQUESTS | CALL_COMPLETES)) || probe;
        unsigned wants = selected(name) ? CHAIN_LEAVE | CHAIN_TIMES | CHAIN_DESCRIPTION | CHAIN_COMPLETIONS : carries ? CHAIN_DESCRIPTION | CHAIN_COMPLETIONS : 0;
        roles[i] = (selected(name) ? SELECTED : 0) | (strncmp(name, "MPI_Psend", 9) == 0 || strncmp(name, "MPI_Precv", 9) == 0 ? PARTITIONED : 0);
        if (order_concurrent && (wants & CHAIN_LEAVE) && (moves || probe || start)) wants |= CHAIN_ENTER;
        if (wants && !chain_observe(&trace_observer, i, wants)) return false;
    }
    return true;
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    if (!objects_start() || !trace_phases_start() || !declare()) {
        agent_note("trace: not recording: no room in the run");
        return;
    }
    trace_sites_start();
    order_start();
    run = agent_run;
    if (!observe()) agent_note("trace: some functions are not traced: out of memory");
    if (roles) __atomic_store_n(&trace_recording, run, __ATOMIC_RELEASE);
}

static void pcontrol(int level, const void *argument)
{
    if (!run || !roles) return;
    if (level == 0) __atomic_store_n(&trace_recording, NULL, __ATOMIC_RELEASE);
    if (level == 1) __atomic_store_n(&trace_recording, run, __ATOMIC_RELEASE);
    if (level == 2) mpitx_run_flush(run);
    trace_phases_pcontrol(level, argument);
}

/* The calls that this thread is in will return after the end: MPI_Finalize, MPI_Abort. */
static void record_open_calls(void)
{
    const struct chain_thread *chain = &chain_thread;
    struct mpitx_run *to = trace_recording;
    struct trace_thread *thread = to ? trace_find_thread() : NULL;
    for (uint32_t i = chain->depth < CHAIN_FRAMES ? chain->depth : CHAIN_FRAMES; thread && i-- > 0;) {
        const struct chain_call *call = &chain->calls[i];
        if (!(roles[call->function] & SELECTED)) continue;
        uint64_t now = clock_ticks(); /* these calls have no time yet */
        if (!window_open(now)) return;
        struct trace_call event = {.begin = call->enter ? call->enter : now, .site = trace_site(call), .function = text_of_function(call->function), .peer = CALL_NONE,
                                   .tag = CALL_NONE, .flags = TRACE_OPEN | (uint32_t)call->depth << TRACE_DEPTH};
        trace_write(to, thread, call_type, now, &event);
    }
}

static void ending(enum agent_end end)
{
    (void)end;
    if (!run) return;
    record_open_calls();
    __atomic_store_n(&trace_recording, NULL, __ATOMIC_RELEASE);
    run = NULL;
    if (agent_process.thread_level > 1 || agent_process.thread_level < 0) agent_run_busy = true;
}

static void forked(void)
{
    trace_recording = run = NULL;
}

static const char *const keys[] = {"trace", "functions", NULL};

const struct agent_tool trace_tool = {
    .name = "trace", .keys = keys, .preparing = preparing, .started = started, .pcontrol = pcontrol, .ending = ending, .forked = forked};
