/* objects.c: the table of communicators, windows and files.
 *
 * Objects are found by handle in chains, the newest first. Chains only grow at their heads, so that they are read without a lock. A
 * handle can be reused once its object is freed: the older entries in the chain are marked as freed. */
#include "tools/objects/objects.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/memory.h"
#include "mpi/objects.h"
#include "mpi/peers.h"

enum { CHAINS = 1024 };

struct row {
    struct mpitx_run_row head;
    uint32_t id, kind;
    int32_t size;
    uint32_t name, made_by, parent, order, freed;
    uint64_t group;
    uint64_t handle, side;
    int32_t rank, job;
    struct chain_collectives collectives;
};

static const struct mpitx_run_field fields[] = {
    {.name = "id", .type = MPITX_RUN_U32},
    {.name = "kind", .type = MPITX_RUN_U32},
    {.name = "size", .type = MPITX_RUN_I32},
    {.name = "name", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
    {.name = "made_by", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT},
    {.name = "parent", .type = MPITX_RUN_U32},
    {.name = "order", .type = MPITX_RUN_U32},
    {.name = "freed", .type = MPITX_RUN_U32},
    {.name = "group", .type = MPITX_RUN_U64},
    {.name = "handle", .type = MPITX_RUN_U64},
    {.name = "side", .type = MPITX_RUN_U64},
    {.name = "rank", .type = MPITX_RUN_I32},
    {.name = "job", .type = MPITX_RUN_I32},
    {.name = "collectives", .type = MPITX_RUN_U64},
    {.name = "recent_number", .type = MPITX_RUN_U32, .count = CHAIN_RECENT},
    {.name = "recent_function", .type = MPITX_RUN_U32, .meaning = MPITX_RUN_TEXT, .count = CHAIN_RECENT},
    {.name = "recent_root", .type = MPITX_RUN_I32, .count = CHAIN_RECENT},
    {.name = "persistent_number", .type = MPITX_RUN_U32, .count = CHAIN_PERSISTENT},
    {.name = "persistent_starts", .type = MPITX_RUN_U32, .count = CHAIN_PERSISTENT},
    {.name = "failed", .type = MPITX_RUN_U32},
    {.name = "reserved", .type = MPITX_RUN_U32},
};

struct object {
    uint64_t handle;
    struct row *row;
    uint32_t next;        /* in its chain; 0: none */
    uint32_t made, ended; /* the handle's epochs when it was made, and since it was freed */
    uint8_t kind, freed;
};

static bool on;
static int table;
static struct object *objects; /* by id */
static uint32_t count, chains[CHAINS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for the time of a declaration when an object is made, named or freed */

static uint32_t *chain_of(uint64_t handle)
{
    return &chains[(handle * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

static uint32_t find(enum call_object kind, uint64_t handle, bool also_freed)
{
    if (!handle || !objects) return 0;
    uint32_t id = __atomic_load_n(chain_of(handle), __ATOMIC_ACQUIRE);
    while (id && (objects[id].handle != handle || objects[id].kind != kind)) id = objects[id].next;
    return also_freed || !__atomic_load_n(&objects[id].freed, __ATOMIC_RELAXED) ? id : 0; /* if the newest one is freed, so are the older ones */
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

uint32_t objects_find(enum call_object kind, uint64_t handle)
{
    return find(kind, handle, false);
}

uint32_t objects_find_freed(enum call_object kind, uint64_t handle)
{
    return find(kind, handle, true);
}

/* ---- changes, under the lock ---- */

static uint32_t order_of(const struct row *new)
{
    for (uint32_t id = count; id; id--) {
        const struct row *row = objects[id].row;
        if (row->kind == new->kind && row->parent == new->parent && row->group == new->group) return row->order + 1;
    }
    return 0;
}

static bool full(void)
{
    static bool noted;
    if (__atomic_load_n(&count, __ATOMIC_RELAXED) < OBJECTS_MOST - 1) return false;
    if (!__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED))
        agent_report(MPITX_RUN_WARNING, "only the first %d communicators, windows and files are told apart", OBJECTS_MOST - 1);
    return true;
}

static uint32_t add(uint64_t handle, uint32_t epoch, struct row *new)
{
    if (full()) return 0;
    new->id = count + 1;
    new->order = order_of(new);
    struct row *row = (struct row *)mpitx_run_row(agent_run, table, new);
    if (!row) return 0;
    uint32_t *chain = chain_of(handle);
    uint32_t id = count + 1;
    objects[id] = (struct object){.handle = handle, .row = row, .next = *chain, .made = epoch, .kind = (uint8_t)new->kind};
    __atomic_store_n(chain, id, __ATOMIC_RELEASE);
    __atomic_store_n(&count, id, __ATOMIC_RELAXED);
    return id;
}

/* ---- objects ---- */

/* An object that was alive in an epoch, and was made by a function (negative: unknown) from a communicator (0: none, or unknown).
 * job: which spawned job it leads to; else 0. */
static uint32_t learn(enum call_object kind, union mpi_handle handle, uint32_t epoch, int function, uint64_t parent, const char *name, int32_t job)
{
    if (full()) return 0;
    int saved = errno;
    struct object_facts facts = {0};
    struct row new = {.kind = kind, .handle = handle.number, .rank = -1, .job = job, .made_by = function < 0 ? text_empty() : text_of_function(function), .parent = objects_find(CALL_COMM, parent)};
    if (kind != CALL_FILE) {
        struct object_group group = object_group(kind, handle, epoch);
        facts = object_ask(kind, handle, epoch, false);
        new.size = group.size;
        new.group = group.hash;
        new.side = group.side;
        new.rank = group.rank;
        name = facts.name;
    }
    new.name = name && *name ? text_of(name) : text_empty();
    struct hold hold = hold_lock(&lock);
    uint32_t id = objects_find(kind, handle.number); /* another thread may have been faster */
    if (!id) id = add(handle.number, epoch, &new);
    hold_unlock(&lock, hold);
    errno = saved;
    return id;
}

uint32_t objects_at(enum call_object kind, uint64_t handle, uint32_t epoch, bool alive)
{
    if (epoch != peers_epoch(handle)) return find_then(kind, handle, epoch);
    uint32_t id = objects_find(kind, handle);
    union mpi_handle object = {.number = handle};
    if (id || !alive || !on || !handle || kind == CALL_FILE || object_is_null(kind, object) || count == OBJECTS_MOST - 1) return id;
    return learn(kind, object, epoch, -1, 0, NULL, 0);
}

static void rename_object(uint32_t id, const char *name)
{
    uint32_t text = text_of(name ? name : "");
    struct hold hold = hold_lock(&lock);
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
    objects[id].ended = peers_epoch(objects[id].handle);
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
        if (!id) learn(object->kind, object->handle, peers_epoch(object->handle.number), object->function, object->parent.number, object->name, object->job);
        break;
    case CHAIN_OBJECT_NAMED:
        if (id) rename_object(id, object->text);
        break;
    case CHAIN_OBJECT_FREEING:
        if (id) mark_freed(id);
        break;
    }
    errno = saved;
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
    if (id && __atomic_load_n(&on, __ATOMIC_ACQUIRE)) __atomic_fetch_add(&objects[id].row->collectives.count, 1, __ATOMIC_RELAXED);
}

static const struct chain_observer collectives_observer = {.name = "objects", .enter = enter};

/* ---- life ---- */

static void learn_predefined(uint64_t handle)
{
    if (handle) learn(CALL_COMM, (union mpi_handle){.number = handle}, peers_epoch(handle), -1, 0, NULL, 0);
}

bool objects_start(void)
{
    uint32_t bytes = 0;
    if (on || !agent_run) return on;
    table = mpitx_run_declare_table(agent_run, "objects", fields, sizeof fields / sizeof *fields, 1, &bytes);
    if (table < 0 || bytes != sizeof(struct row) || !(objects = memory_new(OBJECTS_MOST, sizeof *objects))) return false;
    __atomic_store_n(&on, true, __ATOMIC_RELEASE);
    if (!agent_process.sessions) {
        learn_predefined(agent_process.world);
        learn_predefined(agent_process.self);
    }
    chain_follow_objects(true);
    for (int i = 0; i < chain_function_count && !agent_config("where", 0); i++) /* states count them, too */
        if (chain_functions[i].kind == CALL_COLLECTIVE) chain_observe(&collectives_observer, i, CHAIN_ENTER | CHAIN_DESCRIPTION);
    return true;
}

static void ending(enum agent_end end)
{
    (void)end;
    if (on && (agent_process.thread_level > 1 || agent_process.thread_level < 0)) agent_run_busy = true;
    __atomic_store_n(&on, false, __ATOMIC_RELEASE);
}

static void forked(void)
{
    on = false;
}

const struct agent_tool objects_tool = {.name = "objects", .object = object, .ending = ending, .forked = forked};
