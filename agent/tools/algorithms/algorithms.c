/* algorithms.c: which references lead through doors, and what a call has gone through.
 *
 * Door 0 leads to mca_coll_base_comm_select, which chooses the components of a new communicator. Its first call is for
 * MPI_COMM_WORLD. The components are loaded then, and no communicator has addresses of their functions yet. */
#define _GNU_SOURCE
#include "tools/algorithms/algorithms.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/cancel.h"
#include "base/memory.h"
#include "base/references.h"
#include "mpi/library.h"
#include "tools/algorithms/callers.h"
#include "tools/algorithms/doors.h"
#include "tools/objects/objects.h"

#define NOINLINE __attribute__((noinline))
enum { CHAINS = 1024, TEXT = 2048, COMPONENT = 16, UCX = 4 };

bool algorithms_on;

/* ---- doors ---- */

struct door {
    uintptr_t target;
    const uintptr_t *place; /* the reference; where components are loaded again, it may be at the same address */
    const char *name;       /* in the object that has the reference */
    char component[COMPONENT];
};

static struct door doors[ALGORITHMS_DOORS];
static unsigned door_count = 1;
static bool no_room;

static unsigned find_door(const uintptr_t *place, uintptr_t target)
{
    for (unsigned i = 1; i < door_count; i++)
        if (doors[i].place == place && doors[i].target == target) return i;
    return door_count < ALGORITHMS_DOORS ? door_count++ : 0;
}

static bool has_word(const char *name, const char *const *words)
{
    for (; *words; words++)
        if (strstr(name, *words)) return true;
    return false;
}

/* Whether a function is a decision or an algorithm of a collective, by its name. */
static bool serves(const char *name)
{
    static const char *const operations[] = {"allgather", "allreduce", "alltoall", "barrier", "bcast", "exscan",
                                             "gather", "reduce", "scan", "scatter", NULL};
    static const char *const others[] = {"_do_this", "_generic", "check_forced", "reduce_local", "_topo_", "_reorder",
                                         "_file_", "_fini", "_register", "_dump", "_query", "_reproducible_decision",
                                         NULL};
    bool open_mpi = strncmp(name, "ompi_coll_", 10) == 0 || strncmp(name, "mca_coll_", 9) == 0;
    return open_mpi && has_word(name, operations) && !has_word(name, others);
}

/* "tuned" of "…/mca_coll_tuned.so". */
static void set_component(struct door *door, const char *path)
{
    const char *name = strrchr(path, '/');
    door->component[0] = 0;
    if (!name || sscanf(name, "/mca_coll_%15[a-z0-9]", door->component) != 1) door->component[0] = 0;
}

static bool is_function(uintptr_t address)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return dladdr1((void *)address, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC;
}

static uintptr_t choose(void *argument, const char *name, enum reference_kind kind, const uintptr_t *place)
{
    const struct search *search = argument;
    if (!serves(name) || object_is_agent(*place)) return 0;
    uintptr_t target = reference_target(search, name, kind, place);
    if (!target || object_is_agent(target) || !is_function(target)) return 0;
    unsigned number = find_door(place, target);
    if (number == 0) {
        no_room = true;
        return 0;
    }
    struct door *door = &doors[number];
    door->target = target;
    door->place = place;
    door->name = name;
    set_component(door, search->object->path);
    return algorithms_door(number);
}

static bool is_library(const char *path) { return strcmp(path, library.path) == 0 || strstr(path, "/libopen_mpi.so"); }

static bool is_mpi(const char *path) { return strcmp(path, library.path) == 0; }

static bool has_collectives(const char *path)
{
    return is_library(path) || strstr(path, "mca_coll_") || strstr(path, "/libmpi.so");
}

/* Components are only loaded while a communicator is made, mostly the first one. */
static void search_loaded(void)
{
    static uint64_t searched;
    references_follow(&searched, has_collectives, choose);
}

/* ---- what a call has gone through: a list of passages, the first one in the highest bits ---- */

typedef unsigned __int128 list;

/* A passage is the number of a door, and whether the call's communicator was among the arguments. 0: none. */
enum { PASSAGE_BITS = 12, OWN = 1 << 11, LIST_MOST = 8 * sizeof(list) / PASSAGE_BITS };
_Static_assert((int)ALGORITHMS_DOORS <= (int)OWN && (int)CALLERS_CHAINS <= (int)OWN, "passages");

static bool hidden; /* doors lead to UCX, and passages are chains of callers (callers.h) */

static unsigned passage(list passed, unsigned back) { return (unsigned)(passed >> back * PASSAGE_BITS) & (2 * OWN - 1); }

struct algorithms_thread {
    list passed;
    uint64_t comm;
    uint32_t nested; /* collective calls of callbacks that the thread is in */
    bool more, inside;
};
static AGENT_THREAD struct algorithms_thread own;

/* The functions have at most nine arguments up to the communicator. */
#if defined(__x86_64__)
enum { REGISTERS = 6, WORDS = 3 };
#else
enum { REGISTERS = 8, WORDS = 1 };
#endif

static inline bool has_comm(uint64_t comm, const uintptr_t *registers, const uintptr_t *stack)
{
    bool found = false;
    for (int i = 0; i < REGISTERS; i++) found |= registers[i] == comm;
    for (int i = 0; i < WORDS; i++) found |= stack[i] == comm;
    return found && comm;
}

static void note_passage(struct algorithms_thread *thread, unsigned now)
{
    for (list passed = thread->passed; passed; passed >>= PASSAGE_BITS)
        if (passage(passed, 0) == now) return;
    if (thread->passed >> (LIST_MOST - 1) * PASSAGE_BITS)
        thread->more = true;
    else
        thread->passed = thread->passed << PASSAGE_BITS | now;
}

static uintptr_t pass(unsigned number, const uintptr_t *registers, const uintptr_t *stack, uintptr_t base)
{
    struct algorithms_thread *thread = &own;
    uintptr_t target = doors[number].target;
    if (hidden) {
        unsigned now = thread->inside && !thread->nested ? callers_find(stack, base) : 0;
        if (now) note_passage(thread, now);
        return target;
    }
    if (__builtin_expect(number == 0, 0)) {
        search_loaded();
        return target;
    }
    if (!thread->nested) note_passage(thread, number | (has_comm(thread->comm, registers, stack) ? OWN : 0));
    return target;
}

static void enter(const struct chain_call *call)
{
    if (call->depth > 0) {
        own.nested++;
        return;
    }
    own = (struct algorithms_thread){.inside = true, .comm = call->described ? call->description.comm : 0};
}

static void leave(const struct chain_call *call)
{
    if (call->depth == 0) own.inside = false;
    else if (own.nested) own.nested--;
}

static const struct chain_observer observer = {.name = "algorithms", .enter = enter, .leave = leave};

/* ---- texts: a hash table; entries are never removed ---- */

static struct chain {
    list passed;
    uint32_t text; /* plus 1; 0: the entry is free. Stored last */
    bool more;
} chains[CHAINS];
static uint32_t chain_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for the time of a declaration when a list is new */

static uint32_t hash_of(list passed)
{
    uint64_t hash = ((uint64_t)passed ^ (uint64_t)(passed >> 64) * 31) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static struct chain *find_chain(list passed, bool more)
{
    for (uint32_t i = hash_of(passed);; i++) {
        struct chain *chain = &chains[i % CHAINS];
        if (!__atomic_load_n(&chain->text, __ATOMIC_ACQUIRE)) return chain;
        if (chain->passed == passed && chain->more == more) return chain;
    }
}

static void write_text(char *text, list passed, bool more)
{
    size_t length = hidden ? (size_t)snprintf(text, TEXT, "@%s", callers_build()) : 0;
    for (unsigned back = LIST_MOST; back-- > 0;) {
        unsigned now = passage(passed, back);
        if (!now || length >= TEXT) continue;
        if (hidden) {
            text[length++] = ' ';
            length += callers_write(text + length, TEXT - length, now);
            continue;
        }
        const struct door *door = &doors[now % OWN];
        length += (size_t)snprintf(text + length, TEXT - length, "%s%s%s%s%s", length ? " " : "", now & OWN ? "" : "-",
                                   door->component, door->component[0] ? ":" : "", door->name);
    }
    if (more && length < TEXT) snprintf(text + length, TEXT - length, " …");
}

static NOINLINE uint32_t declare(list passed, bool more)
{
    char text[TEXT + 1];
    struct hold hold = hold_lock(&lock);
    struct chain *chain = find_chain(passed, more);
    uint32_t known = chain->text;
    if (!known && chain_count < CHAINS / 2) {
        write_text(text, passed, more);
        known = text_of(text) + 1; /* 0: the run is full */
        chain->passed = passed;
        chain->more = more;
        chain_count += known != 0;
        __atomic_store_n(&chain->text, known, __ATOMIC_RELEASE);
    }
    hold_unlock(&lock, hold);
    return known ? known - 1 : text_empty();
}

uint32_t algorithms_text(const struct chain_call *call)
{
    if (call->depth > 0 || !own.passed) return text_empty();
    const struct chain *chain = find_chain(own.passed, own.more);
    uint32_t known = __atomic_load_n(&chain->text, __ATOMIC_ACQUIRE);
    return known ? known - 1 : declare(own.passed, own.more);
}

/* ---- life ---- */

static uintptr_t choose_first(void *argument, const char *name, enum reference_kind kind, const uintptr_t *place)
{
    if (kind != REFERENCE_CALL || strcmp(name, "mca_coll_base_comm_select") != 0 || object_is_agent(*place)) return 0;
    doors[0].target = reference_target(argument, name, kind, place);
    return doors[0].target ? algorithms_door(0) : 0;
}

/* UCX's functions that send messages or receive them. The tool paths may have set references to them before. */
static uintptr_t choose_ucx(void *argument, const char *name, enum reference_kind kind, const uintptr_t *place)
{
    static const char *const names[UCX] = {"ucp_tag_send_nbx", "ucp_tag_recv_nbx", "ucp_tag_send_nb", "ucp_tag_recv_nb"};
    for (unsigned i = 0; i < UCX; i++) {
        if (strcmp(name, names[i]) != 0 || doors[i].target) continue;
        doors[i].target = reference_target(argument, name, kind, place);
        return doors[i].target ? algorithms_door(i) : 0;
    }
    return 0;
}

static bool wanted(void) { return agent_config_number("algorithms", 0) != 0; }

static void entering(void)
{
    algorithms_pass = pass;
    hidden = strcmp(library_family, "mpich") == 0;
    if (wanted() && !hidden && algorithms_door(0)) references_follow(&(uint64_t){0}, is_library, choose_first);
}

/* NULL, or why the callers of UCX's functions cannot be found. */
static const char *why_hidden(void)
{
    const char *why = callers_start();
    if (why) return why;
    references_follow(&(uint64_t){0}, is_mpi, choose_ucx);
    for (int i = 0; i < UCX; i++)
        if (doors[i].target) return NULL;
    return "MPICH hides the functions that serve collective calls, and does not use UCX";
}

static const char *why_unknown(void)
{
    if (!algorithms_door(0)) return "mpitx cannot see them on this kind of processor";
    if (hidden) return why_hidden();
    if (!doors[0].target) return "the library has no references by name to the functions that serve collective calls: it is not "
                                 "Open MPI, or is linked statically";
    return door_count == 1 ? "no component of the library has functions that serve collective calls and can be seen" : NULL;
}

static void started(void)
{
    if (!wanted() || !agent_run) return;
    const char *why = why_unknown();
    if (why) agent_report_code(MPITX_RUN_INFO, MPITX_RUN_NOTE_ALGORITHMS, why);
    algorithms_on = !why;
    for (int i = 0; i < chain_function_count && algorithms_on; i++)
        if (chain_functions[i].kind == CALL_COLLECTIVE &&
            !chain_observe(&observer, i, CHAIN_ENTER | CHAIN_LEAVE | CHAIN_DESCRIPTION))
            algorithms_on = false;
    if (no_room) agent_note("algorithms: some are unknown: the library has more than %d functions for them",
                            ALGORITHMS_DOORS);
}

static void ending(enum agent_end end)
{
    (void)end;
    algorithms_on = false;
}

static void forked(void) { algorithms_on = false; }

static const char *const keys[] = {"algorithms", NULL};

const struct agent_tool algorithms_tool = {
    .name = "algorithms", .keys = keys, .entering = entering, .started = started, .ending = ending, .forked = forked};
