/* objects.c: the table of communicators, windows and files.
 *
 * Objects are found by handle in chains, the newest first, which are read without a lock. A handle can be reused once
 * its object is freed: the older entries in the chain are marked as freed.
 *
 * Objects that one line makes and frees again and again share a few rows. The entry of such a row moves to another
 * chain. Whoever reads a chain at that moment may not find an object, never a wrong one. */
#include "run/fields.h"
#include "tools/objects/objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/memory.h"
#include "chain/unwind.h"
#include "mpi/library.h"
#include "mpi/objects.h"
#include "mpi/peers.h"

enum {
    CHAINS = 1024,
    KEPT = 8, /* freed objects of one line that keep their rows: other processes may still be in calls on theirs */
    ORDERS_MOST = OBJECTS_MOST,
};

struct row {
    struct mpitx_run_row head;
    uint32_t id, kind;
    int32_t size;
    uint32_t name, made_by, parent, order, freed;
    uint64_t group;
    uint64_t handle, side;
    int32_t rank, job;
    struct chain_collectives collectives;
    uint64_t site, made_at;
    uint32_t made, reserved_2;
};

static const struct mpitx_run_field fields[] = {
    NUMBER("id", U32), NUMBER("kind", U32), NUMBER("size", I32), NAMED("name"), NAMED("made_by"),
    NUMBER("parent", U32), NUMBER("order", U32), NUMBER("freed", U32), NUMBER("group", U64), NUMBER("handle", U64),
    NUMBER("side", U64), NUMBER("rank", I32), NUMBER("job", I32), NUMBER("collectives", U64),
    NUMBER("recent_number", U32, .count = CHAIN_RECENT), NAMED("recent_function", .count = CHAIN_RECENT),
    NUMBER("recent_root", I32, .count = CHAIN_RECENT), NUMBER("persistent_number", U32, .count = CHAIN_PERSISTENT),
    NUMBER("persistent_starts", U32, .count = CHAIN_PERSISTENT), NUMBER("failed", U32), NUMBER("reserved", U32),
    ADDRESS("site"), TIME("made_at"), NUMBER("made", U32), NUMBER("reserved_2", U32),
};

struct known_text {
    uint64_t hash; /* 0: none */
    uint32_t text;
};

struct object {
    uint64_t handle;
    struct row *row;
    uint32_t next;        /* in its chain; 0: none */
    uint32_t made, ended; /* the handle's epochs when it was made, and since it was freed */
    uint32_t children;    /* rows of objects that were made from it */
    uint32_t orders;      /* the first one of its children; 0: none */
    uint64_t identity;    /* see identity_of */
    struct known_text first_name, name; /* when it was made, and given later, by any object of the row */
    uint8_t kind, freed;
};

/* How many objects of a kind and group were made from one object. */
struct order {
    uint64_t group;
    uint32_t kind, made, next;
    bool unordered; /* other processes may count them in another order */
};

static bool full; /* not all objects are in the table */
static bool on, shares; /* shares: freed objects share rows. Records of single calls tell all objects apart */
static int table;
static struct object *objects; /* by id */
static struct order *orders;
static uint32_t order_count, free_orders;
static uint32_t intercommunicators; /* the text "MPI_Intercomm_create" */
static uint32_t count, chains[CHAINS];
/* held for the time of a declaration when an object is made, named or freed */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint32_t *chain_of(uint64_t handle) { return &chains[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54]; }

static uint32_t find(enum call_object kind, uint64_t handle, bool also_freed)
{
    if (!handle || !objects) return 0;
    uint32_t id = __atomic_load_n(chain_of(handle), __ATOMIC_ACQUIRE);
    while (id && (objects[id].handle != handle || objects[id].kind != kind)) id = objects[id].next;
    /* if the newest one is freed, so are the older ones */
    return also_freed || !__atomic_load_n(&objects[id].freed, __ATOMIC_RELAXED) ? id : 0;
}

/* The object that a handle meant in an epoch that is over. */
static uint32_t find_then(enum call_object kind, uint64_t handle, uint32_t epoch)
{
    uint32_t id = handle && objects ? __atomic_load_n(chain_of(handle), __ATOMIC_ACQUIRE) : 0;
    for (; id; id = objects[id].next) {
        const struct object *o = &objects[id];
        bool ended = __atomic_load_n(&o->freed, __ATOMIC_ACQUIRE) && (int32_t)(epoch - o->ended) >= 0;
        if (o->handle == handle && o->kind == kind && (int32_t)(epoch - o->made) >= 0 && !ended) return id;
    }
    return 0;
}

uint32_t objects_find(enum call_object kind, uint64_t handle) { return find(kind, handle, false); }

uint32_t objects_find_freed(enum call_object kind, uint64_t handle) { return find(kind, handle, true); }

uint32_t objects_count(bool *shared)
{
    uint32_t alive = 0, all = __atomic_load_n(&count, __ATOMIC_RELAXED);
    for (uint32_t id = 1; objects && id <= all; id++) alive += !objects[id].freed;
    *shared = shares;
    return alive;
}

/* ---- changes, under the lock ---- */

/* Stores how many objects with the same kind, parent and group were made before it; false: too many to count. ordered:
 * all processes make it between the same others; later, whether they did so with all objects that it is counted with. */
static bool order_of(struct row *new, bool *ordered)
{
    uint32_t *first = &objects[new->parent].orders, i = *first;
    while (i && (orders[i].group != new->group || orders[i].kind != new->kind)) i = orders[i].next;
    if (!i) {
        if ((i = free_orders)) free_orders = orders[i].next;
        else if (order_count < ORDERS_MOST - 1) i = ++order_count;
        else return false;
        orders[i] = (struct order){new->group, new->kind, 0, *first, false};
        *first = i;
    }
    new->order = orders[i].made++;
    *ordered = !(orders[i].unordered |= !*ordered);
    return true;
}

static void drop_orders(uint32_t parent)
{
    uint32_t *last = &objects[parent].orders;
    while (*last) last = &orders[*last].next;
    *last = free_orders;
    free_orders = objects[parent].orders;
    objects[parent].orders = 0;
}

static void note_full(void)
{
    static bool noted;
    bool shared;
    __atomic_store_n(&full, true, __ATOMIC_RELAXED);
    if (__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED)) return;
    const char *help = objects_count(&shared) > OBJECTS_MOST / 2 ? "; free those that the program does not need" : "";
    agent_report(MPITX_RUN_WARNING, "only the first %d communicators, windows and files are told apart%s",
                 OBJECTS_MOST - 1, help);
}

static bool same_line(const struct row *a, const struct row *b)
{
    return a->site && a->site == b->site && a->made_by == b->made_by && a->kind == b->kind && a->job == b->job;
}

/* The row of an object that was freed, if the same line has made and freed many: the one that was made first. 0: none.
 * Readers find other processes' files and intercommunicators of two groups by the order of all rows. */
static uint32_t freed_like(const struct row *new)
{
    uint32_t first = 0, freed = 0;
    if (!shares || new->kind == CALL_FILE || new->made_by == intercommunicators) return 0;
    for (uint32_t id = count; id; id--) {
        const struct row *row = objects[id].row;
        if (!objects[id].freed || !same_line(row, new)) continue;
        if (row->parent != new->parent &&
            !(row->parent && new->parent && same_line(objects[row->parent].row, objects[new->parent].row)))
            continue;
        freed++;
        if (objects[id].children == 0 && (!first || row->made_at < objects[first].row->made_at)) first = id;
    }
    return freed >= KEPT ? first : 0;
}

static void leave_chain(uint32_t id)
{
    uint32_t *place = chain_of(objects[id].handle);
    while (*place && *place != id) place = &objects[*place].next;
    if (*place) __atomic_store_n(place, objects[id].next, __ATOMIC_RELEASE);
}

static bool take_row(uint32_t id, struct row *new)
{
    struct row *row = objects[id].row;
    new->made = row->made + 1;
    leave_chain(id);
    if (row->parent) objects[row->parent].children--;
    drop_orders(id);
    if (!mpitx_run_row_begin(agent_run, &row->head)) return false;
    memcpy(&row->head + 1, &new->head + 1, sizeof *row - sizeof row->head);
    mpitx_run_row_end(&row->head);
    return true;
}

static uint32_t text_again(struct known_text *known, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!name || !*name) return text_empty();
    for (const char *c = name; *c; c++) hash = (hash ^ (unsigned char)*c) * UINT64_C(1099511628211);
    if (known->hash != hash) *known = (struct known_text){hash, text_of(name)};
    return known->text;
}

/* A number of a communicator that is the same in all of its processes, as they count what was made from its parent in
 * the same order; 0: unknown. The two sides of an intercommunicator are not the same. */
static uint64_t identity_of(uint32_t id, const struct row *new, bool ordered)
{
    uint64_t parent = new->parent ? objects[new->parent].identity : id == 1 && !agent_process.sessions;
    bool known = parent && new->kind == CALL_COMM && new->group && !new->side && ordered;
    if (!known || __atomic_load_n(&full, __ATOMIC_RELAXED)) return 0;
    return objects_mix(objects_mix(parent + new->group) + new->order) | 1;
}

static uint32_t add(uint64_t handle, uint32_t epoch, struct row *new, const char *name, bool ordered)
{
    uint32_t id = freed_like(new), *chain = chain_of(handle);
    bool again = id != 0;
    if (!again) id = count + 1;
    if (id == OBJECTS_MOST || !order_of(new, &ordered)) return note_full(), 0;
    struct object *object = &objects[id];
    new->id = id;
    new->name = text_again(&object->first_name, name);
    if (again ? !take_row(id, new) : !(object->row = (struct row *)mpitx_run_row(agent_run, table, new))) return 0;
    if (new->parent) objects[new->parent].children++;
    object->handle = handle;
    object->kind = (uint8_t)new->kind;
    object->made = epoch;
    object->identity = identity_of(id, new, ordered);
    object->next = *chain;
    __atomic_store_n(&object->freed, 0, __ATOMIC_RELEASE);
    __atomic_store_n(chain, id, __ATOMIC_RELEASE);
    if (!again) __atomic_store_n(&count, id, __ATOMIC_RELAXED);
    return id;
}

/* ---- objects ---- */

/* Where the application calls the function that makes an object. */
static uint64_t site_of_call(void)
{
    const struct chain_thread *thread = &chain_thread;
    if (thread->depth == 0 || thread->depth > CHAIN_FRAMES) return 0;
    const struct chain_call *call = &thread->calls[thread->depth - 1];
    uint64_t site = (uintptr_t)call->address;
    if (library_is_between(site) && chain_unwind_start()) chain_sites(call, &site, 1);
    return site;
}

/* Whether all processes make objects by a function between the same others: not where one waits for a request, and not
 * where several threads call it at once. */
static bool is_ordered(int function)
{
    const char *name = function < 0 ? "" : chain_functions[function].name;
    bool threads = agent_process.thread_level < 0 || agent_process.thread_level > 2;
    return strncmp(name, "MPI_Comm_idup", strlen("MPI_Comm_idup")) != 0 &&
           !(threads && strcmp(name, "MPI_Comm_create_group") == 0);
}

/* An object that was alive in an epoch, and was made by a function (negative: unknown) from a communicator (0: none, or
 * unknown). job: which spawned job it leads to; else 0. */
static uint32_t learn(enum call_object kind, union mpi_handle handle, uint32_t epoch, int function, uint64_t parent,
                      const char *name, int32_t job)
{
    if (!shares && count == OBJECTS_MOST - 1) return note_full(), 0;
    int saved = errno;
    struct object_facts facts = {0};
    struct row new = {.kind = kind, .handle = handle.number, .rank = -1, .job = job,
                      .made_by = function < 0 ? text_empty() : text_of_function(function),
                      .parent = objects_find(CALL_COMM, parent), .site = function < 0 ? 0 : site_of_call(),
                      .made_at = clock_ticks(), .made = 1};
    if (kind != CALL_FILE) {
        struct object_group group = object_group(kind, handle, epoch);
        facts = object_ask(kind, handle, epoch, false);
        new.size = group.size;
        new.group = group.hash;
        new.side = group.side;
        new.rank = group.rank;
        name = facts.name;
    }
    struct hold hold = hold_lock(&lock);
    uint32_t id = objects_find(kind, handle.number); /* another thread may have been faster */
    bool known = id != 0;
    if (!known) id = add(handle.number, epoch, &new, name, is_ordered(function));
    hold_unlock(&lock, hold);
    if (id && !known && kind == CALL_COMM) neighbors_write(id, handle, epoch);
    errno = saved;
    return id;
}

uint32_t objects_at(enum call_object kind, uint64_t handle, uint32_t epoch, bool alive)
{
    if (epoch != epochs_now(handle)) return find_then(kind, handle, epoch);
    uint32_t id = objects_find(kind, handle);
    union mpi_handle object = {.number = handle};
    if (id || !alive || !on || !handle || kind == CALL_FILE || object_is_null(kind, object) ||
        count == OBJECTS_MOST - 1)
        return id;
    return learn(kind, object, epoch, -1, 0, NULL, 0);
}

uint32_t objects_other_of_call(struct objects_last *last, const struct chain_call *call, uint64_t handle,
                               uint32_t epoch, enum call_object kind)
{
    if (chain_functions[call->function].traffic & CALL_FREES) return objects_find_freed(kind, handle);
    uint32_t object = objects_at(kind, handle, epoch, call->rc == 0);
    if (object) *last = (struct objects_last){handle, epoch, kind, object};
    return object;
}

static void rename_object(uint32_t id, const char *name)
{
    struct hold hold = hold_lock(&lock);
    uint32_t text = text_again(&objects[id].name, name);
    if (mpitx_run_row_begin(agent_run, &objects[id].row->head)) {
        objects[id].row->name = text;
        mpitx_run_row_end(&objects[id].row->head);
    }
    hold_unlock(&lock, hold);
}

static void mark_freed(uint32_t id)
{
    struct hold hold = hold_lock(&lock);
    if (mpitx_run_row_begin(agent_run, &objects[id].row->head)) {
        objects[id].row->freed = 1;
        mpitx_run_row_end(&objects[id].row->head);
    }
    objects[id].ended = epochs_now(objects[id].handle);
    __atomic_store_n(&objects[id].freed, 1, __ATOMIC_RELEASE);
    hold_unlock(&lock, hold);
}

static void object(const struct chain_object *object)
{
    if (!__atomic_load_n(&on, __ATOMIC_ACQUIRE)) return;
    uint32_t id = objects_find(object->kind, object->handle.number);
    int saved = errno;
    switch (object->event) {
    case CHAIN_OBJECT_MADE:
        if (!id)
            learn(object->kind, object->handle, epochs_now(object->handle.number), object->function,
                  object->parent.number, object->name, object->job);
        break;
    case CHAIN_OBJECT_NAMED:
        if (id) rename_object(id, object->text);
        break;
    case CHAIN_OBJECT_FREEING:
        if (id) mark_freed(id);
        break;
    default: /* of requests */
        break;
    }
    errno = saved;
}

struct objects_identity objects_identity(uint32_t object)
{
    if (!object) return (struct objects_identity){0};
    const struct object *o = &objects[object];
    return (struct objects_identity){o->identity, o->row->size, o->row->rank};
}

/* ---- collectives ---- */

struct chain_collectives *objects_collectives(uint32_t kind, uint64_t handle, bool *alive)
{
    uint32_t id = objects_find_freed(kind, handle);
    *alive = id && !__atomic_load_n(&objects[id].freed, __ATOMIC_RELAXED);
    return id && __atomic_load_n(&on, __ATOMIC_ACQUIRE) ? &objects[id].row->collectives : NULL;
}

int32_t objects_rank(uint64_t comm)
{
    uint32_t id = objects_find(CALL_COMM, comm);
    return id && __atomic_load_n(&on, __ATOMIC_ACQUIRE) ? objects[id].row->rank : -1;
}

static void enter(const struct chain_call *call)
{
    uint32_t id = objects_find(CALL_COMM, call->description.comm);
    if (id && __atomic_load_n(&on, __ATOMIC_ACQUIRE))
        __atomic_fetch_add(&objects[id].row->collectives.count, 1, __ATOMIC_RELAXED);
}

static const struct chain_observer collectives_observer = {.name = "objects", .enter = enter};

/* ---- life ---- */

static void learn_predefined(uint64_t handle)
{
    if (handle) learn(CALL_COMM, (union mpi_handle){.number = handle}, epochs_now(handle), -1, 0, NULL, 0);
}

bool objects_start(void)
{
    uint32_t bytes = 0;
    if (on || !agent_run) return on;
    table = mpitx_run_declare_table(agent_run, "objects", fields, COUNT(fields), 1, &bytes);
    if (table < 0 || bytes != sizeof(struct row) || !(orders = memory_new(ORDERS_MOST, sizeof *orders)) ||
        !(objects = memory_new(OBJECTS_MOST, sizeof *objects)) || !neighbors_start())
        return false;
    for (int i = 0; i < chain_function_count; i++)
        if (strcmp(chain_functions[i].name, "MPI_Intercomm_create") == 0) intercommunicators = text_of_function(i);
    shares = !agent_config("trace", 0) && !agent_config("trigger", 0) && !agent_config("event", 0);
    __atomic_store_n(&on, true, __ATOMIC_RELEASE);
    if (!agent_process.sessions) {
        learn_predefined(agent_process.world);
        learn_predefined(agent_process.self);
    }
    chain_follow_objects(true);
    for (int i = 0; i < chain_function_count && !agent_config("where", 0); i++) /* states count them, too */
        if (chain_functions[i].kind == CALL_COLLECTIVE)
            chain_observe(&collectives_observer, i, CHAIN_ENTER | CHAIN_DESCRIPTION);
    return true;
}

static void ending(enum agent_end end)
{
    (void)end;
    if (on && (agent_process.thread_level > 1 || agent_process.thread_level < 0)) agent_run_busy = true;
    __atomic_store_n(&on, false, __ATOMIC_RELEASE);
}

static void forked(void) { on = false; }

const struct agent_tool objects_tool = {.name = "objects", .object = object, .ending = ending, .forked = forked};
