/* application.c: the application's own registrations of events of PERUSE that are recorded.
 *
 * Open MPI has one place for each communicator and event; the specification allows several. So while the application has a handle for an
 * event that is recorded, ours is released, and the application's handle reports to both: it has our callback, which calls the
 * application's. In the library the handle is then always active. Whether it is active for the application is noted here. All calls reach
 * the library, so that their results are its own.
 *
 * A handle that propagates to duplicates of its communicator reports to us for these, too. Open MPI's PERUSE_Event_propagate does nothing. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/memory.h"
#include "mpi/library.h"
#include "tools/event/event.h"

struct mpitx_peruse_spec mpitx_peruse_translate(const void *native);

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

static struct peruse_application *handles;

/* The library's routine; NULL: it has none. */
static void *next_symbol(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    return next ? next : library_symbol(name);
}

#define EXPORT __attribute__((visibility("default")))
#define NEXT(name, ...)                                                                                                                    \
    static int (*next)(__VA_ARGS__);                                                                                                       \
    if (!next) next = (int (*)(__VA_ARGS__))next_symbol(#name);                                                                            \
    if (!next) return 1 /* PERUSE_ERR_INIT */

static int activate(void *handle)
{
    NEXT(PERUSE_Event_activate, void *);
    return next(handle);
}

static int deactivate(void *handle)
{
    NEXT(PERUSE_Event_deactivate, void *);
    return next(handle);
}

/* With the lock. */
static struct peruse_application *find(const void *handle)
{
    for (struct peruse_application *a = handles; a && handle; a = a->next)
        if (a->handle == handle) return a;
    return NULL;
}

static int happened(void *handle, MPI_Aint unique_id, void *spec, void *param)
{
    struct peruse_application *a = param;
    struct mpitx_peruse_spec neutral = mpitx_peruse_translate(spec);
    for (struct carried *c = atomic_load(&a->carried); c; c = c->next) {
        struct peruse_binding *binding = atomic_load(&c->comm) == neutral.comm ? atomic_load(&c->binding) : NULL;
        if (binding) event_peruse_record(binding, (intptr_t)unique_id, &neutral);
    }
    peruse_function *callback = atomic_load(&a->callback);
    return atomic_load(&a->active) ? callback(handle, unique_id, spec, atomic_load(&a->param)) : 0;
}

/* ---- what handles record for us; with the lock ---- */

static bool records(const struct peruse_application *a)
{
    for (const struct carried *c = a ? atomic_load(&a->carried) : NULL; c; c = c->next)
        if (atomic_load(&c->binding)) return true;
    return false;
}

/* In the library the handle is active for us alone. */
static bool ours_alone(const struct peruse_application *a) { return records(a) && !atomic_load(&a->active); }

/* Places are used again, as a callback may read the list at any time. */
static bool carry(struct peruse_application *a, struct peruse_binding *b)
{
    struct carried *c = atomic_load(&a->carried);
    while (c && atomic_load(&c->binding)) c = c->next;
    if (!c) {
        if (!(c = memory_new(1, sizeof *c))) return false;
        c->next = atomic_load(&a->carried);
        atomic_store(&a->carried, c);
    }
    atomic_store(&c->comm, event_peruse_comm(b));
    atomic_store(&c->binding, b);
    b->carrier = a;
    return true;
}

void event_peruse_detach(struct peruse_binding *b)
{
    struct peruse_application *a = b->carrier;
    bool ours = ours_alone(a);
    for (struct carried *c = a ? atomic_load(&a->carried) : NULL; c; c = c->next)
        if (atomic_load(&c->binding) == b) atomic_store(&c->binding, NULL);
    b->carrier = NULL;
    if (ours && !records(a) && a->handle) deactivate(a->handle);
}

bool event_peruse_propagate(struct peruse_application *a, struct peruse_binding *duplicate) { return a->propagates && carry(a, duplicate); }

/* ---- the application's calls ---- */

EXPORT int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_function *callback, void *param, void **handle)
{
    NEXT(PERUSE_Event_comm_register, int, MPI_Comm, peruse_function *, void *, void **);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_binding *b = atomic_load(&event_run) && callback && handle ? event_peruse_find(event, (uint64_t)(uintptr_t)comm) : NULL;
    struct peruse_application *a = b ? memory_new(1, sizeof *a) : NULL;
    int rc;
    if (!a) {
        rc = next(event, comm, callback, param, handle);
    } else {
        bool ours = b->event != 0;
        atomic_init(&a->callback, callback);
        atomic_init(&a->param, param);
        event_peruse_give_up(b);
        rc = next(event, comm, happened, a, handle);
        if (rc == 0) {
            event_peruse_detach(b);
            a->handle = *handle;
            a->next = handles;
            handles = a;
            if (carry(a, b)) activate(a->handle);
        } else {
            free(a);
            if (ours) event_peruse_take(b);
        }
    }
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_activate(void *handle)
{
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = activate(handle);
    if (a && rc == 0) atomic_store(&a->active, true);
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_deactivate(void *handle)
{
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = deactivate(handle);
    if (a && rc == 0) {
        atomic_store(&a->active, false);
        if (records(a)) activate(handle);
    }
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_release(void **handle)
{
    NEXT(PERUSE_Event_release, void **);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = handle ? find(*handle) : NULL;
    bool ours = ours_alone(a);
    if (ours) deactivate(a->handle);
    int rc = next(handle);
    if (a && rc == 0) {
        a->handle = NULL;
        for (struct carried *c = atomic_load(&a->carried); c; c = c->next) {
            struct peruse_binding *b = atomic_exchange(&c->binding, NULL);
            if (!b) continue;
            b->carrier = NULL;
            event_peruse_take(b);
        }
    } else if (ours) { /* not released */
        activate(a->handle);
    }
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

/* The library refuses the mode of an active handle. One that accepts it ignores the mode, as Open MPI does. */
EXPORT int PERUSE_Event_propagate(void *handle, int mode)
{
    NEXT(PERUSE_Event_propagate, void *, int);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = next(handle, mode);
    if (rc != 0 && ours_alone(a)) {
        deactivate(handle);
        rc = next(handle, mode);
        if (rc == 0) a->propagates = mode != 0;
        activate(handle);
    }
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

/* Callbacks of active handles cannot be changed, so a handle that is active for us only is deactivated meanwhile. */
EXPORT int PERUSE_Event_comm_callback_set(void *handle, peruse_function *callback, void *param)
{
    NEXT(PERUSE_Event_comm_callback_set, void *, peruse_function *, void *);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = find(handle);
    bool pause = ours_alone(a);
    if (pause) deactivate(handle);
    int rc = next(handle, a && callback ? happened : callback, a ? a : param);
    if (a && rc == 0) {
        atomic_store(&a->callback, callback);
        atomic_store(&a->param, param);
    }
    if (pause) activate(handle);
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_comm_callback_get(void *handle, peruse_function **callback, void **param)
{
    NEXT(PERUSE_Event_comm_callback_get, void *, peruse_function **, void **);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = find(handle);
    bool pause = ours_alone(a);
    if (pause) deactivate(handle);
    int rc = next(handle, callback, param);
    if (a && rc == 0 && callback && *callback == happened) {
        *callback = atomic_load(&a->callback);
        if (param) *param = atomic_load(&a->param);
    }
    if (pause) activate(handle);
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}
