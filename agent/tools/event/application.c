/* application.c: the application's own registrations of events of PERUSE that are recorded.
 *
 * Open MPI has one place for each communicator and event; the specification allows several. So while the application has a handle for an
 * event that is recorded, ours is released, and the application's handle reports to both: it has our callback, which calls the
 * application's. In the library the handle is then always active. Whether it is active for the application is noted here. All calls reach
 * the library, so that their results are its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdlib.h>

#include "mpi/library.h"
#include "tools/event/event.h"

struct mpitx_peruse_spec mpitx_peruse_translate(const void *native);

typedef int peruse_function(void *handle, MPI_Aint unique_id, void *spec, void *param);

/* A handle of the application. Never freed, as Open MPI keeps handles that were released. */
struct peruse_application {
    struct peruse_application *next;
    void *handle; /* NULL: released */
    peruse_function *_Atomic callback;
    void *_Atomic param;
    atomic_bool active;                      /* for the application */
    _Atomic(struct peruse_binding *) binding; /* what it records for us; NULL: nothing (any more) */
    MPI_Comm comm;
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
    struct peruse_binding *binding = atomic_load(&a->binding);
    if (binding) {
        struct mpitx_peruse_spec neutral = mpitx_peruse_translate(spec);
        if (neutral.comm == (uint64_t)(uintptr_t)a->comm) event_peruse_record(binding, (intptr_t)unique_id, &neutral); /* else a propagated handle */
    }
    peruse_function *callback = atomic_load(&a->callback);
    return atomic_load(&a->active) ? callback(handle, unique_id, spec, atomic_load(&a->param)) : 0;
}

/* Leaves the handle to the application alone. */
static void leave_alone(struct peruse_application *a)
{
    atomic_store(&a->binding, NULL);
    if (a->handle && !atomic_load(&a->active)) deactivate(a->handle);
}

void event_peruse_detach(struct peruse_application *a) { leave_alone(a); }

static int registered(struct peruse_binding *b, struct peruse_application *a, void **handle)
{
    if (b->carrier) leave_alone(b->carrier);
    a->handle = *handle;
    a->next = handles;
    handles = a;
    b->carrier = a;
    atomic_store(&a->binding, b);
    return activate(a->handle);
}

EXPORT int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_function *callback, void *param, void **handle)
{
    NEXT(PERUSE_Event_comm_register, int, MPI_Comm, peruse_function *, void *, void **);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_binding *b = atomic_load(&event_run) && callback && handle ? event_peruse_find(event, (uint64_t)(uintptr_t)comm) : NULL;
    struct peruse_application *a = b ? calloc(1, sizeof *a) : NULL;
    int rc;
    if (!a) {
        rc = next(event, comm, callback, param, handle);
    } else {
        bool ours = b->event != 0;
        atomic_init(&a->callback, callback);
        atomic_init(&a->param, param);
        a->comm = comm;
        event_peruse_give_up(b);
        rc = next(event, comm, happened, a, handle);
        if (rc == 0) {
            registered(b, a, handle);
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
        if (atomic_load(&a->binding)) activate(handle);
    }
    hold_unlock(&event_peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_release(void **handle)
{
    NEXT(PERUSE_Event_release, void **);
    struct hold hold = hold_lock(&event_peruse_lock);
    struct peruse_application *a = handle ? find(*handle) : NULL;
    struct peruse_binding *b = a ? atomic_load(&a->binding) : NULL;
    if (a) leave_alone(a);
    int rc = next(handle);
    if (a && rc == 0) {
        a->handle = NULL;
        if (b) {
            b->carrier = NULL;
            event_peruse_take(b);
        }
    } else if (b) { /* not released */
        atomic_store(&a->binding, b);
        activate(a->handle);
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
    bool pause = a && atomic_load(&a->binding) && !atomic_load(&a->active);
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
    bool pause = a && atomic_load(&a->binding) && !atomic_load(&a->active);
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
