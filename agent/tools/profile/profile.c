/* profile.c: what calls and messages add to the profile. */
#include "tools/profile/profile.h"

#include "base/clock.h"
#include "base/memory.h"
#include "mpi/library.h"
#include "mpi/peers.h"
#include "tools/algorithms/algorithms.h"
#include "tools/processor/processor.h"

#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
enum { POOL_BYTES = 57 << 16, PEER_BYTES = 128 };

static struct mpitx_run *counting; /* NULL: not recording, or switched off by MPI_Pcontrol(0) */
static struct mpitx_run *run; /* NULL: not recording */
static uint32_t application;  /* the empty text: calls by the application */
static uint32_t library_thread; /* a text: calls in threads of the library */
static uint8_t *profiled;     /* by function */

/* ---- rows of a call ---- */

static inline uint32_t object_of(struct profile_thread *thread, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    if (!call->described) return 0;
    return objects_of_call(&thread->object, call, d->comm, d->epoch, objects_kind(call->function));
}

static struct mpitx_run_row *find_row(const struct profile_thread *thread, const uint64_t *key, unsigned words)
{
    return rows_find(&thread->calls, key, words, rows_hash(key, words));
}

static NOINLINE struct mpitx_run_row *new_calls_row(struct profile_thread *thread, const struct chain_call *call,
                                                    uint64_t *key)
{
    unsigned words = CALLS_WORDS + profile_stack;
    sites_check(call, key + CALLS_WORDS);
    struct mpitx_run_row *row = find_row(thread, key, words);
    return row ? row : profile_add_calls(thread, key);
}

/* Fills in the key of a call's row, and returns its number of words. */
static unsigned key_of(struct profile_thread *thread, const struct chain_call *call, uint32_t object, uint64_t *key)
{
    key[0] = profile_pair(text_of_function(call->function), phase_of(thread));
    key[1] = profile_pair(object, application);
    if (profile_stack == 0) return CALLS_WORDS;
    key[2] = (uintptr_t)call->address;
    if (profile_stack == 1 && !library_is_between((uintptr_t)call->address)) return CALLS_WORDS + 1;
    sites_walk(call, key + CALLS_WORDS);
    return CALLS_WORDS + profile_stack;
}

/* The row of an earlier call that was like this one, or NULL. */
static inline struct mpitx_run_row *recent_row(struct profile_thread *thread, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    const struct recent_call *recent = &thread->recent_calls[recent_place((uintptr_t)call->address)];
    bool same = recent->address == call->address && recent->comm == d->comm && recent->epoch == d->epoch &&
                recent->function == call->function && recent->phase == phase_of(thread);
    return same && call->described ? recent->row : NULL;
}

/* An object that is not in the table yet may be later. */
static void remember(struct profile_thread *thread, const struct chain_call *call, uint32_t object,
                     struct mpitx_run_row *row)
{
    const struct call_description *d = &call->description;
    uintptr_t address = (uintptr_t)call->address;
    if (!row || !call->described || (d->comm && !object) || profile_stack > 1 || library_is_between(address)) return;
    thread->recent_calls[recent_place(address)] =
        (struct recent_call){row, call->address, d->comm, d->epoch, phase_of(thread), call->function};
}

static NOINLINE struct mpitx_run_row *find_or_add_row(struct profile_thread *thread, const struct chain_call *call)
{
    uint64_t key[KEY_MOST];
    uint32_t object = object_of(thread, call);
    struct mpitx_run_row *row = find_row(thread, key, key_of(thread, call, object, key));
    if (!row) row = new_calls_row(thread, call, key);
    remember(thread, call, object, row);
    return row;
}

static inline struct mpitx_run_row *calls_row(struct profile_thread *thread, const struct chain_call *call)
{
    struct mpitx_run_row *row = recent_row(thread, call);
    return __builtin_expect(row != NULL, 1) ? row : find_or_add_row(thread, call);
}

/* ---- values ---- */

static inline unsigned duration_bucket(uint64_t ticks)
{
    if (ticks < 32) return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll(ticks);
    unsigned bucket = 4 * (octave - 5) + (unsigned)(ticks >> (octave - 2) & 3);
    return bucket < PROFILE_DURATIONS ? bucket : PROFILE_DURATIONS - 1;
}

static inline void add_time(struct calls *values, const struct chain_call *call)
{
    uint64_t ticks = call->leave - call->enter;
    if (UNLIKELY(call->depth > 0)) {
        if (chain_recurses(call)) return;
        values->nested += ticks;
    }
    values->ticks += ticks;
    if (ticks < values->shortest) values->shortest = ticks;
    if (ticks > values->longest) values->longest = ticks;
    values->durations[duration_bucket(ticks)]++;
}

static inline void add_transfers(struct calls *values, const struct call_description *call)
{
    if (call->sent) {
        values->messages_sent += call->sent;
        values->bytes_sent += call->sent_bytes;
    }
    if (call->received) {
        values->messages_received += call->received;
        values->bytes_received += call->received_bytes;
    }
    if (call->gave | call->got | call->read) {
        values->gave += call->gave;
        values->got += call->got + call->read;
    }
    if (UNLIKELY(call->estimated)) values->estimated++;
}

static inline __attribute__((always_inline)) void add_call(const struct chain_call *call, bool collective)
{
    processor_leave(call);
    struct mpitx_run *to = __atomic_load_n(&counting, __ATOMIC_ACQUIRE);
    struct profile_thread *thread = to ? profile_find_thread() : NULL;
    struct mpitx_run_row *row = thread ? calls_row(thread, call) : NULL;
    if (!mpitx_run_row_begin(to, row)) return;
    struct calls *values = calls_of(row);
    values->calls++;
    if (UNLIKELY(call->abandoned))
        values->abandoned++;
    else if (call->enter && call->leave)
        add_time(values, call);
    if (call->described) add_transfers(values, &call->description);
    mpitx_run_row_end(row);
    if (UNLIKELY(call->described && call->description.lasted)) waits_add(to, thread, call, row);
    if (algorithms_known(call) && call->described) served_add(to, thread, call, row);
    if (collective) arrivals_add(to, thread, call, row);
}

static void leave(const struct chain_call *call) { add_call(call, false); }

static void leave_collective(const struct chain_call *call) { add_call(call, true); }

/* ---- short local calls ---- */

enum { ALWAYS_TIMED = 1000 /* calls of a row */, PICKED_BITS = 3 /* of later ones, one in 2^3 */ };
enum { SHORT_NS = 2000, LOST_NS = 100000 };

/* A row without calls as short as this has all calls timed: times cost little then. A call that took so long had
 * probably lost its core, and stands for itself only. */
static uint64_t short_ticks, lost_ticks;

/* Which calls are picked must not follow a pattern, as calls may. */
static inline bool picks(struct profile_thread *thread)
{
    thread->random = thread->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return thread->random >> (64 - PICKED_BITS) == 0;
}

/* The row of a call that has been entered, if there is one. */
static NOINLINE struct mpitx_run_row *find_entered_row(struct profile_thread *thread, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    uint64_t key[KEY_MOST];
    uint32_t object = objects_of_entered(&thread->object, d->comm, d->epoch, objects_kind(call->function));
    if (d->comm && !object) return NULL;
    struct mpitx_run_row *row = find_row(thread, key, key_of(thread, call, object, key));
    remember(thread, call, object, row);
    return row;
}

static void enter_local(const struct chain_call *call)
{
    struct mpitx_run *to = __atomic_load_n(&counting, __ATOMIC_ACQUIRE);
    struct profile_thread *thread = to ? profile_find_thread() : profile_thread;
    struct local_call local = {NULL, LOCAL_TIMED};
    if (!thread) return;
    if (to && call->depth == 0) {
        local.row = recent_row(thread, call);
        if (!local.row) local.row = find_entered_row(thread, call);
        const struct calls *values = local.row && !call->enter ? calls_of(local.row) : NULL;
        if (values && values->calls >= ALWAYS_TIMED && values->shortest < short_ticks)
            local.how = picks(thread) ? LOCAL_PICKED : LOCAL_UNTIMED;
    }
    if (call->depth == 0) thread->local = local;
    if (to && local.how != LOCAL_UNTIMED) chain_take_times(call);
}

static inline void add_picked(struct calls *values, uint64_t ticks)
{
    uint64_t square;
    values->picked++;
    values->picked_ticks += ticks;
    if (__builtin_mul_overflow(ticks, ticks, &square) ||
        __builtin_add_overflow(values->picked_squares, square, &values->picked_squares))
        values->picked_squares = UINT64_MAX;
}

static void leave_local(const struct chain_call *call)
{
    struct mpitx_run *to = __atomic_load_n(&counting, __ATOMIC_ACQUIRE);
    struct profile_thread *thread = to ? profile_find_thread() : NULL;
    if (!thread || call->depth > 0 || !thread->local.row) {
        leave(call);
        return;
    }
    struct local_call local = thread->local;
    thread->local.row = NULL;
    if (!mpitx_run_row_begin(to, local.row)) return;
    struct calls *values = calls_of(local.row);
    values->calls++;
    if (UNLIKELY(call->abandoned))
        values->abandoned++;
    else if (local.how == LOCAL_UNTIMED)
        values->untimed++;
    else {
        add_time(values, call);
        if (local.how == LOCAL_PICKED && call->leave - call->enter < lost_ticks)
            add_picked(values, call->leave - call->enter);
    }
    mpitx_run_row_end(local.row);
}

/* ---- calls that the library makes itself, and messages ---- */

/* A call that the library makes itself has the site of the application's call. */
static void inner(int function, const struct chain_call *outer)
{
    struct mpitx_run *to = __atomic_load_n(&counting, __ATOMIC_ACQUIRE);
    struct profile_thread *thread = to && profiled[function] ? profile_find_thread() : NULL;
    if (!thread) return;
    uint64_t key[KEY_MOST] = {profile_pair(text_of_function(function), phase_of(thread))};
    unsigned words = CALLS_WORDS + profile_stack;
    key[1] = profile_pair(0, outer ? text_of_function(outer->function) : library_thread);
    if (outer && profile_stack) sites_walk(outer, key + CALLS_WORDS);
    struct mpitx_run_row *row = rows_find(&thread->calls, key, words, rows_hash(key, words));
    if (!row) row = profile_add_calls(thread, key);
    if (!mpitx_run_row_begin(to, row)) return;
    calls_of(row)->calls++;
    mpitx_run_row_end(row);
}

static NOINLINE struct recent_message find_message(struct profile_thread *thread, const struct call_completion *message,
                                                   uint64_t what, uint64_t who, uint32_t phase)
{
    bool onesided = chain_functions[message->function].kind == CALL_RMA;
    uint64_t peer[] = {who, profile_pair(phase, onesided)},
             size[] = {profile_pair(text_of_function(message->function), phase), message->received};
    struct recent_message found =
        {rows_find(&thread->peers, peer, PEERS_WORDS, rows_hash(peer, PEERS_WORDS)),
         rows_find(&thread->sizes, size, SIZES_WORDS, rows_hash(size, SIZES_WORDS)), what, who};
    if (!found.peer) found.peer = profile_add_peers(thread, peer);
    if (!found.size) found.size = profile_add_sizes(thread, size);
    return found;
}

static void completed(const struct chain_call *call, const struct call_completion *message)
{
    struct mpitx_run *to = __atomic_load_n(&counting, __ATOMIC_ACQUIRE);
    struct profile_thread *thread = to ? profile_find_thread() : NULL;
    if (!thread) return;
    if (UNLIKELY(call->description.lasted) && chain_functions[message->function].kind != CALL_RMA)
        waits_for(thread, call, message->world, message->received);
    uint32_t phase = phase_of(thread);
    uint64_t what = profile_pair((uint32_t)message->function | (uint32_t)message->received << 31, phase),
             who = profile_pair((uint32_t)message->world.job, (uint32_t)message->world.rank);
    struct recent_message *recent = &thread->recent_messages[recent_place(who + what)];
    if (UNLIKELY(recent->what != what || recent->who != who || !recent->size))
        *recent = find_message(thread, message, what, who, phase);
    struct peers_row *peer = (struct peers_row *)recent->peer;
    struct sizes_row *size = (struct sizes_row *)recent->size;
    if (mpitx_run_row_begin(to, recent->peer)) {
        uint64_t *pair = message->received ? &peer->messages_received : &peer->messages_sent;
        pair[0]++;
        pair[1] += message->bytes;
        mpitx_run_row_end(&peer->head);
    }
    if (mpitx_run_row_begin(to, recent->size)) {
        size->messages[size_bucket(message->bytes)]++;
        size->bytes += message->bytes;
        mpitx_run_row_end(&size->head);
    }
}

static void send_ended(const struct chain_call *call, struct call_peer to)
{
    struct profile_thread *thread = __atomic_load_n(&counting, __ATOMIC_ACQUIRE) ? profile_find_thread() : NULL;
    if (thread) waits_for(thread, call, to, false);
}

static const struct chain_observer profile_observer = {
    .name = "profile", .leave = leave, .completed = completed, .send_ended = send_ended,
            .thread_end = profile_thread_end};

static const struct chain_observer collective_observer = {
    .name = "profile", .leave = leave_collective, .completed = completed, .send_ended = send_ended};

static const struct chain_observer local_observer = {.name = "profile", .enter = enter_local, .leave = leave_local};

/* ---- life ---- */

static bool wanted(void) { return agent_config_is("profile", "record"); }

static void preparing(void)
{
    if (!wanted()) return;
    agent_run_options.dir = agent_config("dir", 0);
    if (agent_run_options.pool_bytes == 0)
        agent_run_options.pool_bytes = POOL_BYTES + PEER_BYTES * (uint64_t)(agent_process.size > 0 ? agent_process.size
            : 0);
}

static bool selected(const char *name)
{
    return (!agent_config("include", 0) || agent_config_matches("include", name)) &&
           !agent_config_matches("exclude", name);
}

static const struct chain_observer *observer_of(int function, bool local)
{
    const struct call_function *f = &chain_functions[function];
    if (local) return &local_observer;
    return f->kind == CALL_COLLECTIVE && !(f->traffic & CALL_REQUESTS) ? &collective_observer : &profile_observer;
}

/* Requests are followed from their start, also if that function is not profiled. */
static bool observe(void)
{
    const unsigned all = CHAIN_LEAVE | CHAIN_TIMES | CHAIN_DESCRIPTION | CHAIN_COMPLETIONS;
    const bool exact = agent_config_number("exact_times", 0) != 0;
    profiled = memory_new((size_t)chain_function_count, sizeof *profiled);
    if (!profiled) return false;
    for (int i = 0; i < chain_function_count; i++) {
        bool local = chain_functions[i].local && !exact;
        profiled[i] = selected(chain_functions[i].name);
        unsigned wants = !profiled[i] ? chain_functions[i].traffic & CALL_REQUESTS ? CHAIN_DESCRIPTION : 0
                         : local ? CHAIN_ENTER | CHAIN_LEAVE | CHAIN_DESCRIPTION : all;
        if (wants && !chain_observe(observer_of(i, local), i, wants)) return false;
        if (!chain_functions[i].local && !processor_observe(i, profiled[i])) return false; /* too short to matter */
    }
    return true;
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    uint64_t depth = agent_config_number("stack", 1);
    profile_stack = depth < PROFILE_STACK_MOST ? (unsigned)depth : PROFILE_STACK_MOST;
    application = text_empty();
    if (agent_config_number("inner", 0)) library_thread = text_of("a thread of the library");
    if (!objects_start() || !phases_start() || !profile_declare()) {
        agent_note("profile: not recording: no room in the run");
        return;
    }
    sites_start();
    waits_start();
    arrivals_start();
    short_ticks = clock_from_nanoseconds(SHORT_NS);
    lost_ticks = clock_from_nanoseconds(LOST_NS);
    run = agent_run;
    __atomic_store_n(&counting, run, __ATOMIC_RELEASE);
    if (!observe()) agent_note("profile: some functions are not profiled: out of memory");
    if (profiled && agent_config_number("inner", 0)) chain_follow_inner(inner);
}

static void pcontrol(int level, const void *argument)
{
    if (!run) return;
    if (level == 0) __atomic_store_n(&counting, NULL, __ATOMIC_RELEASE);
    if (level == 1) __atomic_store_n(&counting, run, __ATOMIC_RELEASE);
    if (level == 2) {
        mpitx_run_modules(run);
        mpitx_run_flush(run);
    }
    phases_pcontrol(level, argument);
}

/* The calls that this thread is in will return after the end: MPI_Finalize, MPI_Abort. */
static void count_open_calls(void)
{
    const struct chain_thread *chain = &chain_thread;
    for (uint32_t i = 0; i < chain->depth && i < CHAIN_FRAMES; i++) {
        struct chain_call call = chain->calls[i];
        if (!profiled || !profiled[call.function]) continue;
        call.enter = 0;
        call.described = 0;
        leave(&call);
    }
}

static void ending(enum agent_end end)
{
    (void)end;
    if (!run) return;
    phases_end();
    count_open_calls();
    __atomic_store_n(&counting, NULL, __ATOMIC_RELEASE);
    run = NULL;
    if (agent_process.thread_level > 1 || agent_process.thread_level < 0) agent_run_busy = true;
}

static void forked(void) { counting = run = NULL; }

static const char *const keys[] = {"profile", "stack", "include", "exclude", "inner", "exact_times", NULL};

const struct agent_tool profile_tool = {
    .name = "profile", .keys = keys, .preparing = preparing, .started = started, .pcontrol = pcontrol, .ending = ending,
            .forked = forked};
