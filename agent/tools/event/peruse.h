/* peruse.h: shared by the files about events of PERUSE. */
#ifndef MPITX_TOOLS_PERUSE_H
#define MPITX_TOOLS_PERUSE_H

#include <mpi.h>

#include "tools/event/event.h"

#pragma GCC visibility push(hidden)

struct peruse_event {
    uint64_t request;
    uint32_t name, object;
    int32_t peer, peer_in_comm, tag, count;
    uint32_t datatype, operation;
};

struct peruse_row {
    struct mpitx_run_row head;
    uint32_t name;
    uint64_t received, recorded, refused;
};

struct peruse_type {
    int number, run_type;
    uint32_t name; /* text in the run */
    struct peruse_row *row;
};

/* What the callback of an event of PERUSE on a communicator gets. */
struct peruse_binding {
    const struct peruse_comm *comm;
    const struct peruse_type *type;
    mpitx_handle event;               /* ours; 0: the application's handle reports to us */
    struct peruse_application *carrier; /* NULL: none */
};

/* What the callbacks of a communicator get. Never freed, as Open MPI keeps handles that were released. */
struct peruse_comm {
    struct peruse_comm *next;
    uint64_t handle;
    uint32_t object;
    int32_t size, *ranks; /* of the peers in MPI_COMM_WORLD; NULL: unknown */
    bool bound;
    struct peruse_binding bindings[];
};

typedef int peruse_function(void *handle, MPI_Aint unique_id, void *spec, void *param);

/* What a handle records for us on one communicator. */
struct carried {
    struct carried *next;
    _Atomic uint64_t comm;
    _Atomic(struct peruse_binding *) binding; /* NULL: nothing (any more) */
};

/* A handle of the application. Never freed, as Open MPI keeps handles that were released. */
struct peruse_application {
    struct peruse_application *next;
    void *handle; /* NULL: released */
    peruse_function *_Atomic callback;
    void *_Atomic param;
    atomic_bool active; /* for the application */
    bool propagates;    /* in the library, too */
    _Atomic(struct carried *) carried;
};

/* ---- carrier.c; all but the first three with the lock ---- */

void *peruse_symbol(const char *name); /* the library's routine; NULL: it has none */
#define NEXT(name, ...)                                                                                                \
    static int (*next)(__VA_ARGS__);                                                                                   \
    if (!next) next = (int (*)(__VA_ARGS__))peruse_symbol(#name);                                                      \
    if (!next) return 1 /* PERUSE_ERR_INIT */

/* in a callback */
void peruse_record(const struct peruse_binding *binding, intptr_t unique_id, const struct mpitx_peruse_spec *spec);
int peruse_happened(void *handle, MPI_Aint unique_id, void *spec, void *param); /* of the application's handles */

int peruse_activate(void *handle);
int peruse_deactivate(void *handle);
bool peruse_records(const struct peruse_application *a); /* for us */
bool peruse_ours_alone(const struct peruse_application *a); /* in the library it is active for us alone */
bool peruse_carry(struct peruse_application *a, struct peruse_binding *binding);
bool peruse_propagate(struct peruse_application *carrier, struct peruse_binding *duplicate); /* false: it does not */
void peruse_detach(struct peruse_binding *binding); /* its carrier, if it has one, does not record for it any more */

/* ---- peruse.c; all with the lock ---- */

extern pthread_mutex_t peruse_lock;
struct peruse_binding *peruse_find(int event, uint64_t comm); /* NULL: not recorded */
void peruse_give_up(struct peruse_binding *binding); /* releases our handle */
int peruse_take(struct peruse_binding *binding);     /* registers it, and activates it */

#pragma GCC visibility pop

#endif
