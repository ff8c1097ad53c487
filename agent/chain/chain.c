#include "chain/internal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "life/life.h"
#include "base/clock.h"
#include "mpi/describe_state.h"
#include "mpi/requests.h"

_Thread_local struct chain_thread chain_thread __attribute__((tls_model("initial-exec")));
int32_t chain_alert_sign;
uint64_t chain_lost_frames;

static const struct chain_observer *observers[CHAIN_OBSERVERS];
static void (*thread_ends[CHAIN_OBSERVERS])(void *);
static int observer_count;
static bool running, stopped, counting_down;
static int pending_objects;
static int type_free = -1, pcontrol = -1, session_init = -1; /* freed datatypes must be noticed, and levels passed on to agent_pcontrol */
int chain_tally_observer = -1;

/* ---- flags ---- */

static unsigned wanted(int function)
{
    unsigned all = 0;
    for (int i = 0; i < observer_count; i++) all |= chain_wants[(size_t)i * (size_t)chain_function_count + (size_t)function];
    return all;
}

/* The light way does what the tally's observer would do; anybody else needs the full one, and who has no counter to read the time
 * from. */
static unsigned lighten(int function, unsigned flags)
{
    unsigned tally = chain_tally_observer >= 0 ? 1u << chain_tally_observer : 0;
    unsigned others = (chain_enter_masks[function] | chain_leave_masks[function] | chain_complete_masks[function]) & ~tally;
    if (others || (flags & (CHAIN_FLAG_TOOLS | CHAIN_FLAG_HOOK))) return flags;
    if ((flags & CHAIN_FLAG_DESCRIBE) && !chain_light[function]) return flags;
    if ((flags & CHAIN_FLAG_TIME) && !clock_counter) return flags;
    unsigned light = flags & (CHAIN_FLAGS_DUE | CHAIN_FLAG_DEPTH);
    if (flags & CHAIN_FLAG_LEAVE) light |= CHAIN_FLAG_TALLY;
    if (flags & CHAIN_FLAG_TIME) light |= CHAIN_FLAG_TALLY_TIME;
    if (flags & CHAIN_FLAG_DESCRIBE) light |= CHAIN_FLAG_TALLY_BYTES;
    return light;
}

static chain_any_function *way(const struct chain_choice *choice, chain_any_function *next, unsigned flags)
{
    if (flags == 0) return next;
    if (!(flags & ~CHAIN_FLAGS_DUE)) return choice->due;
    if (flags < CHAIN_FLAG_TALLY_TIME) return choice->light;
    return flags < CHAIN_FLAG_FULL ? choice->timed : choice->whole;
}

chain_any_function *chain_way(int function, int shifted)
{
    const struct chain_choice *choice = &chain_choices[function + (shifted ? chain_function_count : 0)];
    return way(choice, (shifted ? chain_next_shifted : chain_next)[function], __atomic_load_n(&chain_flags[function], __ATOMIC_ACQUIRE));
}

static void set_way(int function, int shifted)
{
    chain_any_function *door = chain_door_of(function, shifted);
    __atomic_store_n(&(shifted ? chain_ways_shifted : chain_ways)[function], door ? door : chain_way(function, shifted), __ATOMIC_RELEASE);
}

static void set_ways(int function)
{
    if (!chain_choices[function].whole) return;
    set_way(function, 0);
    set_way(function, 1);
}

void chain_set_ways(void)
{
    for (int i = 0; i < chain_function_count; i++) set_ways(i);
}

/* Samples are taken when what others wait for has been sent, and before this process waits itself: a process that has just got a
 * message is waited for, and one that has just sent it is not. */
static bool waits(int function)
{
    const struct call_function *f = &chain_functions[function];
    return (f->kind == CALL_POINT_TO_POINT || f->kind == CALL_COMPLETION) && !(f->traffic & CALL_SENDS);
}

static void set_flags(int function)
{
    unsigned traffic = chain_functions[function].traffic;
    unsigned flags = 0;
    if (!chain_resolved) return; /* CHAIN_FLAG_UNRESOLVED stays */
    if ((!stopped || function == session_init) && agent_is_armed()) flags |= chain_starting_flags[function]; /* one more is said */
    if (!stopped && running) {
        unsigned all = wanted(function);
        if (chain_enter_masks[function]) flags |= CHAIN_FLAG_ENTER;
        if (chain_leave_masks[function]) flags |= CHAIN_FLAG_LEAVE;
        if (all & CHAIN_TIMES) flags |= CHAIN_FLAG_TIME;
        if (all & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)) flags |= CHAIN_FLAG_DESCRIBE;
        if (pending_objects > 0 && (traffic & CALL_COMPLETES)) flags |= CHAIN_FLAG_DESCRIBE;
        if (chain_links[function].function) flags |= CHAIN_FLAG_TOOLS;
        if (call_follows_objects && (traffic & CALL_OBJECTS)) flags |= CHAIN_FLAG_HOOK;
        /* No sample in MPI_Init and its like; nor in MPI_Abort: the library may have crashed with its locks held. */
        if (counting_down && !chain_starting_flags[function]) flags |= waits(function) ? CHAIN_FLAG_DUE_FIRST : CHAIN_FLAG_DUE;
        /* MPI calls of a handler for a crash in MPI_T are inner ones, and take no sample. */
        if (chain_foreign[function] || (traffic & CALL_FORWARDS) || (counting_down && chain_functions[function].kind == CALL_TOOL)) flags |= CHAIN_FLAG_DEPTH;
        if (function == type_free || function == pcontrol) flags |= CHAIN_FLAG_HOOK;
        flags = lighten(function, flags);
    }
    __atomic_store_n(&chain_flags[function], (uint16_t)flags, __ATOMIC_RELEASE);
    set_ways(function);
}

void chain_set_flags(void)
{
    bool tracks = pending_objects > 0;
    for (int i = 0; i < chain_function_count && !tracks; i++)
        tracks = (chain_functions[i].traffic & CALL_COMPLETES) && (wanted(i) & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS));
    if (tracks || call_follows_objects) requests_start();
    requests_tracked = tracks;
    for (int i = 0; i < chain_function_count; i++) set_flags(i);
}

int chain_add_observer(const struct chain_observer *observer)
{
    if (observer_count == CHAIN_OBSERVERS) return -1;
    observers[observer_count] = observer;
    return observer_count++;
}

void chain_observe(int observer, int function, unsigned wants)
{
    if (observer < 0 || observer >= observer_count) return;
    int first = function < 0 ? 0 : function, last = function < 0 ? chain_function_count - 1 : function;
    uint8_t bit = (uint8_t)(1u << observer), unbit = (uint8_t)~bit;
    for (int i = first; i <= last; i++) {
        uint8_t *place = &chain_wants[(size_t)observer * (size_t)chain_function_count + (size_t)i];
        if (*place == wants) continue;
        *place = (uint8_t)wants;
        chain_enter_masks[i] = (uint8_t)((chain_enter_masks[i] & unbit) | (wants & CHAIN_ENTER ? bit : 0));
        chain_leave_masks[i] = (uint8_t)((chain_leave_masks[i] & unbit) | (wants & CHAIN_LEAVE ? bit : 0));
        chain_complete_masks[i] = (uint8_t)((chain_complete_masks[i] & unbit) | (wants & CHAIN_COMPLETIONS ? bit : 0));
        if ((chain_functions[i].traffic & CALL_COMPLETES) && (wants & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)))
            requests_tracked = requests_start();
        set_flags(i);
    }
    /* Persistent requests are kept even where completions are not looked at. */
    if (wants & CHAIN_DESCRIPTION) requests_start();
}

/* While a communicator's idup is pending, completions must be looked at. */
static void pend(int change)
{
    int now = __atomic_add_fetch(&pending_objects, change, __ATOMIC_RELAXED);
    if ((change > 0 && now == 1) || (change < 0 && now == 0)) chain_set_flags();
}

static void tell_completed(const struct call_description *description, const struct call_completion *completion)
{
    const struct chain_call *call = (const struct chain_call *)((const char *)description - offsetof(struct chain_call, description));
    for (unsigned mask = chain_complete_masks[call->function]; mask; mask &= mask - 1)
        if (observers[__builtin_ctz(mask)]->completed) observers[__builtin_ctz(mask)]->completed(call, completion);
}

void chain_go(void)
{
    call_hooks.completed = tell_completed;
    call_hooks.pending = pend;
    type_free = chain_function_id("MPI_Type_free");
    pcontrol = chain_function_id("MPI_Pcontrol");
    session_init = chain_function_id("MPI_Session_init");
    running = true;
    chain_set_flags();
}

void chain_stop(void)
{
    stopped = true;
    running = false;
    call_follows_objects = requests_tracked = false;
    chain_set_flags();
}

bool chain_running(void)
{
    return running;
}

void chain_countdown(bool on)
{
    counting_down = on;
    chain_set_flags();
}

void chain_alert(bool on)
{
    __atomic_store_n(&chain_alert_sign, on ? -1 : 0, __ATOMIC_RELAXED);
}

bool chain_is_alerted(void)
{
    return __atomic_load_n(&chain_alert_sign, __ATOMIC_RELAXED) != 0;
}

void chain_follow_objects(bool on)
{
    call_follows_objects = on;
    chain_set_flags();
}

struct chain_losses chain_losses(void)
{
    return (struct chain_losses){.requests = requests_lost, .frames = chain_lost_frames, .memory = describe_lost_memory};
}

/* ---- names ---- */

int chain_function_id(const char *name)
{
    size_t prefix = 0, length = strlen(name);
    bool enumerated = length > 2 && strcmp(name + length - 2, "_T") == 0;
    if (name[0] == 'P' && name[1] == 'M') prefix = 1;
    for (int i = 0; i < chain_function_count; i++)
        if (strcmp(chain_functions[i].name, name + prefix) == 0) return i;
    if (enumerated) length -= 2;
    for (int i = 0; i < chain_function_count; i++)
        if (strncasecmp(chain_functions[i].name, name, length) == 0 && chain_functions[i].name[length] == 0) return i;
    return -1;
}

/* ---- calls ---- */

void chain_tell_enter(const struct chain_call *call, struct chain_thread *thread)
{
    for (unsigned mask = chain_enter_masks[call->function]; mask; mask &= mask - 1)
        observers[__builtin_ctz(mask)]->enter(call, thread);
}

void chain_tell_leave(const struct chain_call *call, struct chain_thread *thread)
{
    for (unsigned mask = chain_leave_masks[call->function]; mask; mask &= mask - 1)
        observers[__builtin_ctz(mask)]->leave(call, thread);
}

/* Calls that were left by longjmp, an exception or cancellation, innermost first. */
static void abandon(struct chain_thread *thread, uint32_t live)
{
    while (thread->depth > live) {
        uint32_t depth = --thread->depth;
        struct chain_call call = {.function = thread->functions[depth], .nested = depth > 0, .depth = (uint8_t)depth,
                                  .name_shifted = thread->shifted[depth], .abandoned = 1, .rc = -1};
        if (chain_flags[call.function] & (CHAIN_FLAG_TIME | CHAIN_FLAG_TALLY_TIME)) {
            call.enter = thread->entered[depth];
            call.leave = clock_ticks();
        }
        if (running) chain_tell_leave(&call, thread);
    }
    if (live == 0) describe_abandon();
}

/* Whether a call was left, though we are deeper in the stack now than it was: something else has been put where it returns to. A
 * stack that is gone is not looked at. */
static bool overwritten(const struct chain_thread *thread, uint32_t depth)
{
#if defined(__x86_64__)
    const uintptr_t page = 4096;
    const void *const *place = (const void *const *)thread->frames[depth] - 1;
    unsigned char resident;
    int saved = errno;
    if ((uintptr_t)place / page != (uintptr_t)&resident / page && mincore((void *)((uintptr_t)place & ~(page - 1)), page, &resident) != 0) {
        errno = saved;
        return false;
    }
    return *place != thread->addresses[depth];
#else
    (void)thread;
    (void)depth;
    return false;
#endif
}

/* Whether a frame is a signal handler's, on a stack of its own, that has interrupted the outer one. */
static bool interrupts(const void *frame, const void *outer)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) != 0 || !(stack.ss_flags & SS_ONSTACK)) return false;
    uintptr_t start = (uintptr_t)stack.ss_sp;
    return (uintptr_t)frame - start <= stack.ss_size && (uintptr_t)outer - start > stack.ss_size;
}

uint32_t chain_enter_nested(const void *address, const void *frame)
{
    struct chain_thread *thread = &chain_thread;
    uint32_t live = thread->depth;
    for (; live > 0; live--) {
        const void *outer = thread->frames[live - 1];
        if ((frame < outer || interrupts(frame, outer)) && !overwritten(thread, live - 1)) break;
    }
    if (live < thread->depth) abandon(thread, live);
    if (live == 0) return library_calls(address) ? CHAIN_FRAMES : 0;
    if (library_is_inside(address)) return CHAIN_FRAMES;
    if (live == CHAIN_FRAMES) __atomic_fetch_add(&chain_lost_frames, 1, __ATOMIC_RELAXED);
    return live;
}

void chain_due(struct chain_thread *thread)
{
    thread->countdown = INT32_MAX;
    agent_due(thread);
}

/* ---- threads ---- */

static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

static void thread_end(void *argument)
{
    struct chain_thread *thread = argument;
    abandon(thread, 0);
    for (int i = 0; i < observer_count; i++)
        if (thread_ends[i] && thread->data[i]) {
            thread_ends[i](thread->data[i]);
            thread->data[i] = NULL;
        }
    describe_thread_end();
    thread->known = 0;
}

static void make_key(void)
{
    key_made = pthread_key_create(&key, thread_end) == 0;
}

void chain_know_thread(void)
{
    struct chain_thread *thread = &chain_thread;
    pthread_once(&key_once, make_key);
    if (key_made) pthread_setspecific(key, thread);
    thread->known = 1;
}

void chain_on_thread_end(int observer, void (*end)(void *data))
{
    if (observer >= 0 && observer < CHAIN_OBSERVERS) thread_ends[observer] = end;
}
