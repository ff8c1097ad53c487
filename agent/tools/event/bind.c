/* bind.c: registrations. A type that is bound to a kind of object has one for each, from its creation until it is
 * freed. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>

#include "base/cancel.h"
#include "base/memory.h"
#include "tools/event/event.h"

static struct event_registration *registrations[EVENT_REGISTRATIONS];
static int count;
static uint64_t skipped;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Registers at all levels up to the strictest that the library accepts, so that it may call us wherever the event
 * occurs. An event calls the callback of one level. Open MPI 6.0.0rc2 accepts the strictest level, but drops the events
 * of registrations that have only this one. The strictest comes last, for a library that keeps only one. */
static int register_callback(struct event_registration *r)
{
    int strictest = 0, rc = MPITX_ERR_NOT_SUPPORTED;
    for (int safety = MPITX_CB_REQUIRE_NONE; safety <= r->type->safety; safety++) {
        int this = pvar.table->event_register_callback(r->handle, safety, 0, r, event_received);
        if (this == MPITX_SUCCESS) strictest = safety;
        if (rc != MPITX_SUCCESS) rc = this;
    }
    if (rc != MPITX_SUCCESS) return rc;
    r->type->row->safety = (uint32_t)(r->type->safety = strictest);
    pvar.table->event_set_dropped_handler(r->handle, r, event_dropped);
    return rc;
}

static int bind_one(struct event_type *type, union mpi_handle handle, uint32_t object)
{
    struct event_registration *r = memory_new(1, sizeof *r);
    if (!r) return MPITX_ERR_MEMORY;
    *r = (struct event_registration){.type = type, .object_handle = handle.number, .object = object};
    int rc = type->bind == MPITX_BIND_NO_OBJECT ? pvar.table->event_handle_alloc(type->index, MPITX_OBJECT_NONE, 0,
        &r->handle) : mpitx_event_bind(type->index, &handle, 0, &r->handle);
    if (rc == MPITX_SUCCESS) {
        registrations[count++] = r;
        rc = register_callback(r);
    } else
        free(r);
    return rc;
}

void event_bind(int bind, union mpi_handle handle, uint32_t object)
{
    int saved = errno;
    struct hold hold = hold_lock(&lock);
    for (int i = 0; i < event_type_count; i++) {
        struct event_type *type = &event_types[i];
        if (type->bind != bind || type->safety <= 0) continue;
        if (count == EVENT_REGISTRATIONS) {
            skipped++;
            continue;
        }
        int rc = bind_one(type, handle, object);
        if (rc != MPITX_SUCCESS)
            agent_report(MPITX_RUN_WARNING, "event %s: not recorded for an object: %s", type->name, pvar_rc_name(rc));
    }
    hold_unlock(&lock, hold);
    errno = saved;
}

static void release(int i)
{
    mpitx_handle handle = registrations[i]->handle;
    registrations[i]->handle = 0;
    registrations[i] = registrations[--count]; /* the record stays, see event.h */
    pvar.table->event_handle_free(handle, NULL, NULL);
}

void event_unbind(int bind, union mpi_handle handle)
{
    int saved = errno;
    struct hold hold = hold_lock(&lock);
    for (int i = count; i-- > 0;)
        if (registrations[i]->type->bind == bind && registrations[i]->object_handle == handle.number) release(i);
    hold_unlock(&lock, hold);
    errno = saved;
}

void event_unbind_all(void)
{
    int saved = errno;
    struct hold hold = hold_lock(&lock);
    while (count > 0) release(count - 1);
    if (skipped)
        agent_report(MPITX_RUN_WARNING,
                     "%llu pairs of an event and an object are not recorded: the agent registers at most %d callbacks "
                     "at a time", (unsigned long long)skipped, EVENT_REGISTRATIONS);
    hold_unlock(&lock, hold);
    errno = saved;
}
