/* application.c: the application's own registrations of events of PERUSE that are recorded.
 *
 * Open MPI has one place for each communicator and event; the specification allows several. So while the application
 * has a handle for an event that is recorded, ours is released, and the application's handle reports to both: it has
 * our callback, which calls the application's. In the library the handle is then always active. Whether it is active
 * for the application is noted here. All calls reach the library, so that their results are its own.
 *
 * A handle that propagates to duplicates of its communicator reports to us for these, too. Open MPI's
 * PERUSE_Event_propagate does nothing. */
#include <stdlib.h>

#include "base/memory.h"
#include "tools/event/peruse.h"

#define EXPORT __attribute__((visibility("default")))

static struct peruse_application *handles;

/* With the lock. */
static struct peruse_application *find(const void *handle)
{
    for (struct peruse_application *a = handles; a && handle; a = a->next)
        if (a->handle == handle) return a;
    return NULL;
}

/* ---- the application's calls ---- */

EXPORT int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_function *callback, void *param, void **handle)
{
    NEXT(PERUSE_Event_comm_register, int, MPI_Comm, peruse_function *, void *, void **);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_binding *b = atomic_load(&event_run) && callback && handle
                               ? peruse_find(event, (uint64_t)(uintptr_t)comm) : NULL;
    struct peruse_application *a = b ? memory_new(1, sizeof *a) : NULL;
    int rc;
    if (!a) {
        rc = next(event, comm, callback, param, handle);
    } else {
        bool ours = b->event != 0;
        atomic_init(&a->callback, callback);
        atomic_init(&a->param, param);
        peruse_give_up(b);
        rc = next(event, comm, peruse_happened, a, handle);
        if (rc == 0) {
            peruse_detach(b);
            a->handle = *handle;
            a->next = handles;
            handles = a;
            if (peruse_carry(a, b)) peruse_activate(a->handle);
        } else {
            free(a);
            if (ours) peruse_take(b);
        }
    }
    hold_unlock(&peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_activate(void *handle)
{
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = peruse_activate(handle);
    if (a && rc == 0) atomic_store(&a->active, true);
    hold_unlock(&peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_deactivate(void *handle)
{
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = peruse_deactivate(handle);
    if (a && rc == 0) {
        atomic_store(&a->active, false);
        if (peruse_records(a)) peruse_activate(handle);
    }
    hold_unlock(&peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_release(void **handle)
{
    NEXT(PERUSE_Event_release, void **);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = handle ? find(*handle) : NULL;
    bool ours = peruse_ours_alone(a);
    if (ours) peruse_deactivate(a->handle);
    int rc = next(handle);
    if (a && rc == 0) {
        a->handle = NULL;
        for (struct carried *c = atomic_load(&a->carried); c; c = c->next) {
            struct peruse_binding *b = atomic_exchange(&c->binding, NULL);
            if (!b) continue;
            b->carrier = NULL;
            peruse_take(b);
        }
    } else if (ours) { /* not released */
        peruse_activate(a->handle);
    }
    hold_unlock(&peruse_lock, hold);
    return rc;
}

/* The library refuses the mode of an active handle. One that accepts it ignores the mode, as Open MPI does. */
EXPORT int PERUSE_Event_propagate(void *handle, int mode)
{
    NEXT(PERUSE_Event_propagate, void *, int);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = find(handle);
    int rc = next(handle, mode);
    if (rc != 0 && peruse_ours_alone(a)) {
        peruse_deactivate(handle);
        rc = next(handle, mode);
        if (rc == 0) a->propagates = mode != 0;
        peruse_activate(handle);
    }
    hold_unlock(&peruse_lock, hold);
    return rc;
}

/* Callbacks of active handles cannot be changed, so a handle that is active for us only is deactivated meanwhile. */
EXPORT int PERUSE_Event_comm_callback_set(void *handle, peruse_function *callback, void *param)
{
    NEXT(PERUSE_Event_comm_callback_set, void *, peruse_function *, void *);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = find(handle);
    bool pause = peruse_ours_alone(a);
    if (pause) peruse_deactivate(handle);
    int rc = next(handle, a && callback ? peruse_happened : callback, a ? a : param);
    if (a && rc == 0) {
        atomic_store(&a->callback, callback);
        atomic_store(&a->param, param);
    }
    if (pause) peruse_activate(handle);
    hold_unlock(&peruse_lock, hold);
    return rc;
}

EXPORT int PERUSE_Event_comm_callback_get(void *handle, peruse_function **callback, void **param)
{
    NEXT(PERUSE_Event_comm_callback_get, void *, peruse_function **, void **);
    struct hold hold = hold_lock(&peruse_lock);
    struct peruse_application *a = find(handle);
    bool pause = peruse_ours_alone(a);
    if (pause) peruse_deactivate(handle);
    int rc = next(handle, callback, param);
    if (a && rc == 0 && callback && *callback == peruse_happened) {
        *callback = atomic_load(&a->callback);
        if (param) *param = atomic_load(&a->param);
    }
    if (pause) peruse_activate(handle);
    hold_unlock(&peruse_lock, hold);
    return rc;
}
