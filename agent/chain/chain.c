/* chain.c: which observers want which functions, and where each wrapper jumps to. */
#include "chain/internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "chain/stubs.h"
#include "mpi/describe_state.h"
#include "mpi/requests.h"

static bool running, stopped;
static int pending_objects, object_followers;
static int pcontrol = -1, session_init = -1; /* numbers of these functions */

/* ---- the owner ---- */

/* Until an owner is registered, only these two callbacks are called. */
static bool unarmed(void) { return false; }
static void ignore(const char *path) { (void)path; }

static const struct chain_owner no_owner = {.armed = unarmed, .other_family = ignore};
const struct chain_owner *chain_owner = &no_owner;

static void object_made(enum call_object kind, union mpi_handle object, const struct call_creation *how)
{
    chain_owner->object(&(struct chain_object){CHAIN_OBJECT_MADE, kind, object, chain_functions[how->function].name, how->name, how->function, how->parent, how->job});
}

static void object_named(enum call_object kind, union mpi_handle object, const char *name)
{
    chain_owner->object(&(struct chain_object){.event = CHAIN_OBJECT_NAMED, .kind = kind, .handle = object, .text = name});
}

static void object_freeing(enum call_object kind, union mpi_handle object)
{
    chain_owner->object(&(struct chain_object){.event = CHAIN_OBJECT_FREEING, .kind = kind, .handle = object});
}

void chain_set_owner(const struct chain_owner *owner)
{
    chain_owner = owner;
}

/* ---- observers ---- */

struct observation {
    struct observation *next;
    const struct chain_observer *observer;
    uint8_t wants[];
};

static struct observation *observations; /* in the order of registration; never freed */

struct list {
    struct list *next;
    size_t count;
    const struct chain_observer *observers[];
};

static struct list *lists; /* never freed: a thread may still read a list that is no longer used */
const struct chain_observer *const chain_nobody[] = {NULL};

static unsigned wanted(int function)
{
    unsigned all = 0;
    for (const struct observation *o = observations; o; o = o->next) all |= o->wants[function];
    return all;
}

static const struct list *find_list(const struct chain_observer *const *observers, size_t count)
{
    for (struct list *list = lists; list; list = list->next)
        if (list->count == count && memcmp(list->observers, observers, count * sizeof *observers) == 0) return list;
    struct list *list = memory_new(1, sizeof *list + (count + 1) * sizeof *observers);
    if (!list) return NULL;
    list->count = count;
    memcpy(list->observers, observers, count * sizeof *observers);
    list->next = lists;
    return lists = list;
}

/* The observers that want one kind of callback for a function; an empty list if out of memory. */
static const struct chain_observer *const *observers_of(int function, unsigned want)
{
    size_t count = 0;
    for (const struct observation *o = observations; o; o = o->next) count += (o->wants[function] & want) != 0;
    if (count == 0) return chain_nobody;
    const struct chain_observer *found[count];
    count = 0;
    for (const struct observation *o = observations; o; o = o->next)
        if (o->wants[function] & want) found[count++] = o->observer;
    const struct list *list = find_list(found, count);
    return list ? list->observers : chain_nobody;
}

static struct observation *observe(const struct chain_observer *observer)
{
    struct observation **place = &observations;
    for (; *place; place = &(*place)->next)
        if ((*place)->observer == observer) return *place;
    struct observation *new = memory_new(1, sizeof *new + (size_t)chain_function_count);
    if (new) new->observer = observer;
    __atomic_store_n(place, new, __ATOMIC_RELEASE);
    return new;
}

void chain_end_thread(void)
{
    for (const struct observation *o = __atomic_load_n(&observations, __ATOMIC_ACQUIRE); o; o = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE))
        if (o->observer->thread_end) o->observer->thread_end();
}

/* ---- the wrappers' targets ---- */

#ifdef CHAIN_STUBS
chain_any_function *chain_target(int function, int shifted)
{
    extern char chain_countdowns[] __attribute__((visibility("hidden")));
    unsigned flags = __atomic_load_n(&chain_flags[function], __ATOMIC_ACQUIRE);
    if (flags & ~(CHAIN_FLAGS_DUE | CHAIN_FLAG_STATE)) return chain_records[function][shifted];
    chain_any_function *quick = flags & CHAIN_FLAG_STATE ? chain_states[function][shifted] : chain_next[function][shifted];
    __atomic_store_n(&chain_after_countdown[function][shifted], quick, __ATOMIC_RELEASE);
    if (!(flags & CHAIN_FLAGS_DUE)) return quick;
    return (chain_any_function *)(chain_countdowns + CHAIN_STRIDE * (2 * function + shifted));
}

static void set_targets(int function)
{
    if (!chain_records[function][0]) return;
    for (int shifted = 0; shifted < 2; shifted++) {
        chain_any_function *door = chain_door_of(function, shifted);
        __atomic_store_n(&chain_targets[function][shifted], door ? door : chain_target(function, shifted), __ATOMIC_RELEASE);
    }
}

void chain_set_targets(void)
{
    for (int i = 0; i < chain_function_count; i++) set_targets(i);
}
#else
static void set_targets(int function) { (void)function; }
#endif

/* A function that waits for other processes is sampled before the call, any other function after it. After a receive, other
 * processes may be waiting for this one; after a send, they are not. */
static bool waits(int function)
{
    const struct call_function *f = &chain_functions[function];
    return (f->kind == CALL_POINT_TO_POINT || f->kind == CALL_COMPLETION) && !(f->traffic & CALL_SENDS);
}

static void set_flags(int function)
{
    struct chain_observers *observers = &chain_observers[function];
    unsigned traffic = chain_functions[function].traffic;
    unsigned flags = 0;
    __atomic_store_n(&observers->enter, observers_of(function, CHAIN_ENTER), __ATOMIC_RELEASE);
    __atomic_store_n(&observers->leave, observers_of(function, CHAIN_LEAVE), __ATOMIC_RELEASE);
    __atomic_store_n(&observers->completed, observers_of(function, CHAIN_COMPLETIONS), __ATOMIC_RELEASE);
    if (!chain_resolved) return; /* CHAIN_FLAG_UNRESOLVED stays */
    if ((!stopped || function == session_init) && chain_owner->armed()) flags |= chain_starting_flags[function]; /* after a stop, the owner notes further sessions */
    if (chain_tools_wait()) flags |= CHAIN_FLAG_START;
    if (chain_links[function].function && chain_tools_active()) flags |= CHAIN_FLAG_TOOLS;
    if (!stopped && running && chain_functions[function].kind < CALL_VALUE) {
        unsigned all = wanted(function);
        if (observers->enter[0]) flags |= CHAIN_FLAG_ENTER;
        if (observers->leave[0]) flags |= CHAIN_FLAG_LEAVE;
        if (observers->completed[0]) flags |= CHAIN_FLAG_COMPLETIONS;
        if (all & CHAIN_TIMES) flags |= CHAIN_FLAG_TIME;
        if (all & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)) flags |= CHAIN_FLAG_DESCRIBE;
        if (pending_objects > 0 && (traffic & CALL_COMPLETES)) flags |= CHAIN_FLAG_DESCRIBE;
        if (call_follows_objects && (traffic & CALL_OBJECTS)) flags |= CHAIN_FLAG_HOOK;
        /* No samples in MPI_Init and similar functions, nor in MPI_Abort: the library may have crashed with its locks held. */
        if (chain_due && !chain_starting_flags[function]) flags |= waits(function) ? CHAIN_FLAG_DUE_FIRST : CHAIN_FLAG_DUE;
        /* If MPI_T crashes, the MPI calls of the crash handler are nested calls, without samples. */
        if (chain_tool_after[function] || (traffic & CALL_FORWARDS) || (chain_due && chain_functions[function].kind == CALL_TOOL)) flags |= CHAIN_FLAG_DEPTH;
        if ((traffic & (CALL_FREES | CALL_REMEMBERED)) || function == pcontrol) flags |= CHAIN_FLAG_HOOK;
        if (chain_states_on && chain_state_arguments[function]) flags |= CHAIN_FLAG_STATE;
    }
    __atomic_store_n(&chain_flags[function], (uint16_t)flags, __ATOMIC_RELEASE);
    set_targets(function);
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

bool chain_observe(const struct chain_observer *observer, int function, unsigned wants)
{
    struct observation *observation = observe(observer);
    if (!observation) return false;
    int first = function < 0 ? 0 : function, last = function < 0 ? chain_function_count - 1 : function;
    if (!observer->enter) wants &= ~(unsigned)CHAIN_ENTER;
    if (!observer->leave) wants &= ~(unsigned)CHAIN_LEAVE;
    if (!observer->completed) wants &= ~(unsigned)CHAIN_COMPLETIONS;
    for (int i = first; i <= last; i++) {
        if (observation->wants[i] == wants || chain_functions[i].kind >= CALL_VALUE) continue;
        observation->wants[i] = (uint8_t)wants;
        if ((chain_functions[i].traffic & CALL_COMPLETES) && (wants & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)))
            requests_tracked = requests_start();
        set_flags(i);
    }
    /* Persistent requests are recorded even if completions are not. */
    if (wants & CHAIN_DESCRIPTION) requests_start();
    return true;
}

/* While an MPI_Comm_idup is pending, completions must be described. */
static void pend(int change)
{
    int now = __atomic_add_fetch(&pending_objects, change, __ATOMIC_RELAXED);
    if ((change > 0 && now == 1) || (change < 0 && now == 0)) chain_set_flags();
}

static const struct chain_call *call_of(const struct call_description *description)
{
    return (const struct chain_call *)((const char *)description - offsetof(struct chain_call, description));
}

static void report_completed(const struct call_description *description, const struct call_completion *completion)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++) (*o)->completed(call, completion);
}

static void report_send_ended(const struct call_description *description, struct call_peer to)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->send_ended) (*o)->send_ended(call, to);
}

static void report_request_ended(const struct call_description *description, const struct call_request_end *end)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->request_ended) (*o)->request_ended(call, end);
}

static void report_restarted(const struct call_description *description, uint64_t request)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->restarted) (*o)->restarted(call, request);
}

void chain_report_long(uint64_t ticks)
{
    chain_long = ticks;
}

void chain_go(void)
{
    call_hooks = (struct call_hooks){report_completed, report_send_ended, report_request_ended, report_restarted, pend, object_made, object_named, object_freeing, chain_owner->spawning, chain_owner->spawned};
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

void chain_countdown(void (*due)(struct chain_thread *thread))
{
    __atomic_store_n(&chain_due, due, __ATOMIC_RELEASE);
    chain_set_flags();
}

void chain_follow_inner(void (*inner)(int function, const struct chain_call *outer))
{
    __atomic_store_n(&chain_inner, inner, __ATOMIC_RELEASE);
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
    object_followers += on ? 1 : -1;
    call_follows_objects = !stopped && object_followers > 0;
    chain_set_flags();
}

struct chain_losses chain_losses(void)
{
    return (struct chain_losses){.requests = requests_lost, .locked = requests_locked, .frames = chain_lost_frames, .memory = describe_lost_memory, .sizes = describe_lost_sizes};
}

/* ---- names ---- */

int chain_function_id(const char *name)
{
    size_t prefix = name[0] == 'P' && name[1] == 'M';
    for (int i = 0; i < chain_function_count; i++)
        if (strcmp(chain_functions[i].name, name + prefix) == 0) return i;
    return -1;
}
