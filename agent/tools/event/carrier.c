/* carrier.c: what PERUSE reports to us, also through handles of the application that carry registrations of ours. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "base/memory.h"
#include "mpi/library.h"
#include "tools/event/peruse.h"

struct mpitx_peruse_spec mpitx_peruse_translate(const void *native);

void *peruse_symbol(const char *name)
{
    void *next = dlsym(RTLD_NEXT, name);
    return next ? next : library_symbol(name);
}

void peruse_record(const struct peruse_binding *b, intptr_t unique_id, const struct mpitx_peruse_spec *spec)
{
    uint64_t now = clock_ticks();
    struct mpitx_run *run = event_enter(now);
    if (run) {
        struct peruse_row *row = b->type->row;
        int32_t peer = spec->peer >= 0 && spec->peer < b->comm->size && b->comm->ranks ? b->comm->ranks[spec->peer]
                                                                                       : -1;
        struct peruse_event e = {(uint64_t)unique_id, b->type->name, b->comm->object, peer, spec->peer, spec->tag,
                                 spec->count, (uint32_t)spec->datatype, (uint32_t)spec->operation};
        __atomic_fetch_add(&row->received, 1, __ATOMIC_RELAXED);
        bool ok = event_write(run, b->type->run_type, now, &e);
        __atomic_fetch_add(ok ? &row->recorded : &row->refused, 1, __ATOMIC_RELAXED);
    }
    event_leave();
}

int peruse_activate(void *handle)
{
    NEXT(PERUSE_Event_activate, void *);
    return next(handle);
}

int peruse_deactivate(void *handle)
{
    NEXT(PERUSE_Event_deactivate, void *);
    return next(handle);
}

int peruse_happened(void *handle, MPI_Aint unique_id, void *spec, void *param)
{
    struct peruse_application *a = param;
    struct mpitx_peruse_spec neutral = mpitx_peruse_translate(spec);
    for (struct carried *c = atomic_load(&a->carried); c; c = c->next) {
        struct peruse_binding *binding = atomic_load(&c->comm) == neutral.comm ? atomic_load(&c->binding) : NULL;
        if (binding) peruse_record(binding, (intptr_t)unique_id, &neutral);
    }
    peruse_function *callback = atomic_load(&a->callback);
    return atomic_load(&a->active) ? callback(handle, unique_id, spec, atomic_load(&a->param)) : 0;
}

/* ---- what handles record for us; with the lock ---- */

bool peruse_records(const struct peruse_application *a)
{
    for (const struct carried *c = a ? atomic_load(&a->carried) : NULL; c; c = c->next)
        if (atomic_load(&c->binding)) return true;
    return false;
}

/* In the library the handle is active for us alone. */
bool peruse_ours_alone(const struct peruse_application *a) { return peruse_records(a) && !atomic_load(&a->active); }

/* Places are used again, as a callback may read the list at any time. */
bool peruse_carry(struct peruse_application *a, struct peruse_binding *b)
{
    struct carried *c = atomic_load(&a->carried);
    while (c && atomic_load(&c->binding)) c = c->next;
    if (!c) {
        if (!(c = memory_new(1, sizeof *c))) return false;
        c->next = atomic_load(&a->carried);
        atomic_store(&a->carried, c);
    }
    atomic_store(&c->comm, b->comm->handle);
    atomic_store(&c->binding, b);
    b->carrier = a;
    return true;
}

void peruse_detach(struct peruse_binding *b)
{
    struct peruse_application *a = b->carrier;
    bool ours = peruse_ours_alone(a);
    for (struct carried *c = a ? atomic_load(&a->carried) : NULL; c; c = c->next)
        if (atomic_load(&c->binding) == b) atomic_store(&c->binding, NULL);
    b->carrier = NULL;
    if (ours && !peruse_records(a) && a->handle) peruse_deactivate(a->handle);
}

bool peruse_propagate(struct peruse_application *a, struct peruse_binding *duplicate)
{
    return a->propagates && peruse_carry(a, duplicate);
}
