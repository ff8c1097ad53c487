/* objects.h: numbers the communicators, windows and files of this process, for tools that write them into the run. */
#ifndef MPITX_TOOLS_OBJECTS_H
#define MPITX_TOOLS_OBJECTS_H

#include "chain/state.h"
#include "run/process.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

enum { OBJECTS_MOST = 4096 }; /* further objects have the number 0 */

/* Writes the table "objects" from now on. Called by tools when they start. False: there is no room in the run. */
bool objects_start(void);

/* How many objects are in the table that were not freed. shared: freed ones of one line share rows. */
uint32_t objects_count(bool *shared);

/* The number of an object that is in the table, or 0. Does not call MPI. */
uint32_t objects_find(enum call_object kind, uint64_t handle);

/* The same, also if the object was freed: for calls that free it. */
uint32_t objects_find_freed(enum call_object kind, uint64_t handle);

/* The number of the object that a handle meant in an epoch (mpi/peers.h), also if it was freed since; 0: not in the
 * table. If alive is set, a call with it has succeeded in that epoch, and it is added to the table. */
uint32_t objects_at(enum call_object kind, uint64_t handle, uint32_t epoch, bool alive);

/* A number of a communicator that is the same in all of its processes; 0: unknown. */
struct objects_identity {
    uint64_t number;
    int32_t size, rank; /* of this process */
};
struct objects_identity objects_identity(uint32_t object);

/* Mixes a number: the results are spread evenly. */
static inline uint64_t objects_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The last object of a thread, as most calls use the same one again. Zero the handle to forget it. */
struct objects_last {
    uint64_t handle;
    uint32_t epoch, kind, object;
};
uint32_t objects_other_of_call(struct objects_last *last, const struct chain_call *call, uint64_t handle,
                               uint32_t epoch, enum call_object kind);

/* The number of the object that a call used, or 0. */
static inline uint32_t objects_of_call(struct objects_last *last, const struct chain_call *call, uint64_t handle,
                                       uint32_t epoch, enum call_object kind)
{
    if (!handle) return 0;
    if (last->handle == handle && last->epoch == epoch && last->kind == kind) return last->object;
    return objects_other_of_call(last, call, handle, epoch, kind);
}

/* The same for a call that has been entered, and does not free it: 0 also if the object is not in the table yet. */
static inline uint32_t objects_of_entered(struct objects_last *last, uint64_t handle, uint32_t epoch,
                                          enum call_object kind)
{
    if (last->handle == handle && last->epoch == epoch && last->kind == kind) return last->object;
    uint32_t object = handle ? objects_at(kind, handle, epoch, false) : 0;
    if (object) *last = (struct objects_last){handle, epoch, kind, object};
    return object;
}

/* An object's collective calls, until the run ends; NULL if it is not in the table. alive: it is not being freed. */
struct chain_collectives *objects_collectives(uint32_t kind, uint64_t handle, bool *alive);

/* The rank of this process in a communicator; -1: unknown. */
int32_t objects_rank(uint64_t comm);

/* What the `comm` of a call's description is. */
static inline enum call_object objects_kind(int function)
{
    unsigned kind = chain_functions[function].kind;
    return kind == CALL_RMA ? CALL_WIN : kind == CALL_IO ? CALL_FILE : CALL_COMM;
}

/* ---- neighbors.c: of communicators with a topology, in traces ---- */

bool neighbors_start(void); /* false: no room in the run */
void neighbors_write(uint32_t object, union mpi_handle comm, uint32_t epoch);

/* ---- texts.c: identifiers of texts in the run; TEXT_NONE: no room ---- */

#define TEXT_NONE UINT32_MAX

uint32_t text_of(const char *text); /* a new identifier each time */
uint32_t text_empty(void);
uint32_t text_of_name(const char *name); /* of a phase, cut if it is long: the same identifier each time */

extern uint32_t *texts_of_functions; /* identifiers plus 1; 0: not declared yet. NULL before the first one */
uint32_t text_declare_function(int function);

static inline uint32_t text_of_function(int function)
{
    const uint32_t *known = __atomic_load_n(&texts_of_functions, __ATOMIC_ACQUIRE);
    uint32_t text = known ? __atomic_load_n(&known[function], __ATOMIC_RELAXED) : 0;
    return __builtin_expect(text != 0, 1) ? text - 1 : text_declare_function(function);
}

#pragma GCC visibility pop

#endif
