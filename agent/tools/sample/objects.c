/* objects.c: handles objects that the application creates, names and frees. */
#define _GNU_SOURCE
#include "mpi/peers.h"
#include "tools/sample/sampler.h"

#include <errno.h>
#include <stdio.h>

static int bind_of(enum call_object kind)
{
    int bind = MPITX_BIND_MPI_SESSION;
    while (pvar_kind(bind) != kind) bind--;
    return bind;
}

static bool following(void) { return atomic_load_explicit(&sampler_state, memory_order_relaxed) == SAMPLER_ON; }

static unsigned tried; /* 1 << bind: its variables have been tried, as far as they are known; under the lock */

/* MPICH lists more variables after the first window is created. */
static void look_for_late_variables(void)
{
    int n = 0, first = pvar.variable_count;
    if (!pvar.mpi_t || pvar.table->pvar_get_num(&n) != MPITX_SUCCESS || n <= pvar.library_count) return;
    pvar_select();
    if (pvar.variable_count == first) return;
    struct pvar_object none = {.bind = MPITX_BIND_NO_OBJECT};
    pvar_try_new(&none);
    pvar_group_late(first);
    tried = 0;
    sampler_follow_others();
}

/* Variables of windows can only be tried with a window; with sessions, those of communicators with one of theirs. */
static void created(int bind, union mpi_handle handle, const char *how)
{
    if (!following() || object_is_null(pvar_kind(bind), handle)) return;
    int saved = errno;
    if (sampler_lock()) {
        if (bind == MPITX_BIND_MPI_WIN) look_for_late_variables();
        if (pvar.follow && !pvar_group_find(bind, handle)) { /* MPI_Comm_get_parent returns the same one each time */
            struct pvar_object object = {.bind = bind, .handle = handle};
            struct object_facts facts = object_ask(pvar_kind(bind), handle, epochs_now(handle.number), false);
            if (!object_peers_are_fewer(&facts)) pvar_try_new(&object);
            struct pvar_group *g = pvar_group_new(bind, handle, how);
            /* in programs with sessions, the first one is recorded however short it lives, as MPI_COMM_WORLD is */
            static bool had;
            if (agent_process.sessions && !had && g) had = pvar_group_declare(g);
        }
        sampler_unlock();
    }
    errno = saved;
}

static void named(int bind, union mpi_handle handle, const char *name)
{
    if (!following() || !name) return;
    int saved = errno;
    if (sampler_lock()) {
        struct pvar_group *g = pvar_group_find(bind, handle);
        if (g) {
            snprintf(g->objects[0].facts.name, sizeof g->objects[0].facts.name, "%s", name);
            if (g->declared) mpitx_run_object_name(agent_run, g->objects[0].id, name);
        }
        sampler_unlock();
    }
    errno = saved;
}

static void freeing(int bind, union mpi_handle handle)
{
    if (atomic_load(&sampler_state) != SAMPLER_ON && atomic_load(&sampler_state) != SAMPLER_DONE) return;
    int saved = errno;
    if (sampler_lock()) {
        struct pvar_group *g = pvar_group_find(bind, handle);
        if (g) {
            sampler_take_last(g);
            pvar_group_free(g);
        }
        sampler_unlock();
    }
    errno = saved;
}

/* ---- objects that are bound at the next sample: see made.c ---- */

static void made(int bind, const struct chain_object *object)
{
    if (!(tried & 1u << bind)) {
        tried |= 1u << bind;
        pvar_try_new(&(struct pvar_object){.bind = bind, .handle = object->handle});
        sampler_follow_others();
    }
    if (pvar_binds() & 1u << bind) sampler_made_add(bind, object->handle, object->text, object->name);
}

static void change(int bind, const struct chain_object *object)
{
    if (object->event == CHAIN_OBJECT_TAKEN) sampler_made_takes(object->place);
    struct sampler_made *m = sampler_made_find(bind, object->handle);
    if (object->event == CHAIN_OBJECT_MADE) {
        made(bind, object);
    } else if (object->event == CHAIN_OBJECT_LEFT) {
        sampler_made_leave(object->handle, object->place);
    } else if (m && object->event == CHAIN_OBJECT_TAKEN) {
        sampler_made_take(m, object->place);
    } else if (m && object->event == CHAIN_OBJECT_NAMED) {
        sampler_made_name(m, object->text);
    } else if (m && object->event == CHAIN_OBJECT_FREEING) {
        if (sampler_made_group(m)) sampler_take_last(sampler_made_group(m));
        sampler_made_end(m);
    }
}

/* A call of the library within a sample, which holds the lock, is not the program's. */
static void other_object(const struct chain_object *object)
{
    int state = atomic_load_explicit(&sampler_state, memory_order_relaxed), saved = errno;
    bool began = object->event == CHAIN_OBJECT_MADE || object->event == CHAIN_OBJECT_NAMED;
    if (state != SAMPLER_ON && (state != SAMPLER_DONE || began)) return;
    if (object->event == CHAIN_OBJECT_LEFT ? !sampler_made_took() : !began && !atomic_load(&sampler_made_count)) return;
    if (sampler_holds_lock() || !sampler_lock()) return;
    change(bind_of(object->kind), object);
    sampler_unlock();
    errno = saved;
}

/* Communicators and windows are followed in any case: see sampler_object. */
void sampler_follow_others(void)
{
    static unsigned followed;
    unsigned kinds = 0, binds = pvar_binds();
    for (int bind = MPITX_BIND_NO_OBJECT; bind <= MPITX_BIND_MPI_SESSION; bind++)
        if (pvar_binds_later(bind) && binds & 1u << bind) kinds |= 1u << pvar_kind(bind);
    if (kinds != followed) chain_follow_others(kinds, other_object);
    followed = kinds;
}

/* Unbinds the communicators of MPI_COMM_WORLD. Libraries do not say which windows and communicators of sessions end. */
void sampler_world_ending(void)
{
    int state = atomic_load(&sampler_state), saved = errno;
    if ((state == SAMPLER_ON || state == SAMPLER_DONE) && sampler_lock()) {
        sampler_made_world_ends();
        for (struct pvar_group *g = pvar.groups; g; g = g->next) pvar_group_unbind(g, "MPI_Finalize was called");
        sampler_unlock();
    }
    errno = saved;
}

void sampler_object(const struct chain_object *object)
{
    int bind = bind_of(object->kind);
    if (object->kind == CALL_FILE) {
        if (pvar_binds() & 1u << bind) other_object(object);
        return;
    }
    switch (object->event) {
    case CHAIN_OBJECT_MADE: created(bind, object->handle, object->text); break;
    case CHAIN_OBJECT_NAMED: named(bind, object->handle, object->text); break;
    case CHAIN_OBJECT_FREEING: freeing(bind, object->handle); break;
    default: break; /* of requests */
    }
}
