/* flags.c: what the calls of each function need, and where its wrappers jump to. Files above set what it depends on. */
#include "chain/internal.h"

#include <string.h>

#include "chain/stubs.h"
#include "mpi/requests.h"

bool chain_resolved, chain_states_on;
_Atomic int chain_tools;
void (*chain_due)(struct chain_thread *thread);
void (*chain_other_object)(const struct chain_object *object);
char *chain_door_code;
uint8_t chain_has_door[CHAIN_DOORS / 2];

static bool running, stopped;
static int pending_objects, object_followers;
static unsigned other_kinds;
static int pcontrol = -1, session_init = -1; /* numbers of these functions */

/* Until an owner is registered, only these two callbacks are called. */
static bool unarmed(void) { return false; }
static void ignore(const char *path) { (void)path; }

static const struct chain_owner no_owner = {.armed = unarmed, .other_family = ignore};
const struct chain_owner *chain_owner = &no_owner;

int chain_function_id(const char *name)
{
    size_t prefix = name[0] == 'P' && name[1] == 'M';
    for (int i = 0; i < chain_function_count; i++)
        if (strcmp(chain_functions[i].name, name + prefix) == 0) return i;
    return -1;
}

/* ---- the wrappers' targets ---- */

#ifdef CHAIN_STUBS
chain_any_function *chain_target(int function, int shifted)
{
    extern char chain_countdowns[] __attribute__((visibility("hidden")));
    unsigned flags = __atomic_load_n(&chain_flags[function], __ATOMIC_ACQUIRE);
    if (flags & ~(CHAIN_FLAGS_DUE | CHAIN_FLAG_STATE)) return chain_records[function][shifted];
    chain_any_function *quick = flags & CHAIN_FLAG_STATE ? chain_states[function][shifted]
                                                         : chain_next[function][shifted];
    __atomic_store_n(&chain_after_countdown[function][shifted], quick, __ATOMIC_RELEASE);
    if (!(flags & CHAIN_FLAGS_DUE)) return quick;
    return (chain_any_function *)(chain_countdowns + CHAIN_STRIDE * (2 * function + shifted));
}

static void set_targets(int function)
{
    if (!chain_records[function][0]) return;
    for (int shifted = 0; shifted < 2; shifted++) {
        chain_any_function *target = chain_has_door[function]
                                     ? (chain_any_function *)(chain_door_code + 16 * (2 * function + shifted))
                                     : chain_target(function, shifted);
        __atomic_store_n(&chain_targets[function][shifted], target, __ATOMIC_RELEASE);
    }
}

void chain_set_targets(void) { for (int i = 0; i < chain_function_count; i++) set_targets(i); }
#else
static void set_targets(int function) { (void)function; }
#endif

/* ---- flags ---- */

/* A function that waits for other processes is sampled before the call, any other function after it. After a receive,
 * other processes may be waiting for this one; after a send, they are not. */
static bool waits(int function)
{
    const struct call_function *f = &chain_functions[function];
    return (f->kind == CALL_POINT_TO_POINT || f->kind == CALL_COMPLETION) && !(f->traffic & CALL_SENDS);
}

static unsigned flags_of_running(int function)
{
    const struct chain_observers *observers = &chain_observers[function];
    unsigned traffic = chain_functions[function].traffic, kind = chain_functions[function].kind,
                       all = chain_wanted(function), flags = 0;
    if (observers->enter[0]) flags |= CHAIN_FLAG_ENTER;
    if (observers->leave[0]) flags |= CHAIN_FLAG_LEAVE;
    if (observers->completed[0]) flags |= CHAIN_FLAG_COMPLETIONS;
    if (all & CHAIN_TIMES) flags |= CHAIN_FLAG_TIME;
    if (all & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)) flags |= CHAIN_FLAG_DESCRIBE;
    if (pending_objects > 0 && (traffic & CALL_COMPLETES)) flags |= CHAIN_FLAG_DESCRIBE;
    if (call_follows_objects && (traffic & CALL_OBJECTS)) flags |= CHAIN_FLAG_HOOK;
    /* No samples in MPI_Init and similar functions, nor in MPI_Abort: the library may have crashed with locks held. */
    if (chain_due && !chain_starting_flags[function]) flags |= waits(function) ? CHAIN_FLAG_DUE_FIRST : CHAIN_FLAG_DUE;
    /* If MPI_T crashes, the MPI calls of the crash handler are nested calls, without samples. */
    if (chain_tool_after[function] || (traffic & CALL_FORWARDS) || (chain_due && kind == CALL_TOOL))
        flags |= CHAIN_FLAG_DEPTH;
    if ((traffic & (CALL_FREES | CALL_REMEMBERED)) || function == pcontrol) flags |= CHAIN_FLAG_HOOK;
    if (chain_object_kinds[function] & other_kinds) flags |= CHAIN_FLAG_OBJECTS;
    if (chain_states_on && chain_state_arguments[function]) flags |= CHAIN_FLAG_STATE;
    return flags;
}

static void set_flags(int function)
{
    unsigned flags = 0;
    int tools = chain_tools;
    chain_select_observers(function);
    if (!chain_resolved) return; /* CHAIN_FLAG_UNRESOLVED stays */
    /* After a stop, the owner notes further sessions. */
    if ((!stopped || function == session_init) && chain_owner->armed()) flags |= chain_starting_flags[function];
    if (tools >= TOOLS_AWAITED && tools <= TOOLS_STARTING) flags |= CHAIN_FLAG_START;
    if (chain_links[function].function && (tools == TOOLS_STARTED || tools == TOOLS_ACTIVE)) flags |= CHAIN_FLAG_TOOLS;
    if (running && chain_functions[function].kind < CALL_VALUE) flags |= flags_of_running(function);
    __atomic_store_n(&chain_flags[function], (uint16_t)flags, __ATOMIC_RELEASE);
    set_targets(function);
}

void chain_set_flags(void)
{
    bool tracks = pending_objects > 0;
    for (int i = 0; i < chain_function_count && !tracks; i++)
        tracks = (chain_functions[i].traffic & CALL_COMPLETES) &&
                 (chain_wanted(i) & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS));
    if (tracks || call_follows_objects) requests_start();
    requests_tracked = tracks;
    for (int i = 0; i < chain_function_count; i++) set_flags(i);
}

bool chain_observe(const struct chain_observer *observer, int function, unsigned wants)
{
    uint8_t *wanted = chain_wants(observer);
    if (!wanted) return false;
    int first = function < 0 ? 0 : function, last = function < 0 ? chain_function_count - 1 : function;
    if (!observer->enter) wants &= ~(unsigned)CHAIN_ENTER;
    if (!observer->leave) wants &= ~(unsigned)CHAIN_LEAVE;
    if (!observer->completed) wants &= ~(unsigned)CHAIN_COMPLETIONS;
    for (int i = first; i <= last; i++) {
        if (wanted[i] == wants || chain_functions[i].kind >= CALL_VALUE) continue;
        wanted[i] = (uint8_t)wants;
        call_follows_ends = call_follows_ends || ((wants & CHAIN_COMPLETIONS) && observer->request_ended);
        if ((chain_functions[i].traffic & CALL_COMPLETES) && (wants & (CHAIN_DESCRIPTION | CHAIN_COMPLETIONS)))
            requests_tracked = requests_start();
        set_flags(i);
    }
    /* Persistent requests are recorded even if completions are not. */
    if (wants & CHAIN_DESCRIPTION) requests_start();
    return true;
}

void chain_countdown(void (*due)(struct chain_thread *thread))
{
    __atomic_store_n(&chain_due, due, __ATOMIC_RELEASE);
    chain_set_flags();
}

void chain_follow_objects(bool on)
{
    object_followers += on ? 1 : -1;
    call_follows_objects = !stopped && object_followers > 0;
    chain_set_flags();
}

void chain_follow_others(unsigned kinds, void (*object)(const struct chain_object *object))
{
    __atomic_store_n(&chain_other_object, object, __ATOMIC_RELEASE);
    other_kinds = kinds;
    chain_set_flags();
}

void chain_pend(int change)
{
    int now = __atomic_add_fetch(&pending_objects, change, __ATOMIC_RELAXED);
    if ((change > 0 && now == 1) || (change < 0 && now == 0)) chain_set_flags();
}

void chain_run(void)
{
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

bool chain_running(void) { return running; }
