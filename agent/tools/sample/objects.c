/* objects.c: handles communicators and windows that the application creates, names and frees. */
#define _GNU_SOURCE
#include "mpi/peers.h"
#include "tools/sample/sampler.h"

#include <errno.h>
#include <stdio.h>

static bool following(void) { return atomic_load_explicit(&sampler_state, memory_order_relaxed) == SAMPLER_ON; }

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

/* Unbinds the communicators of MPI_COMM_WORLD. Libraries do not say which windows and communicators of sessions end. */
void sampler_world_ending(void)
{
    int state = atomic_load(&sampler_state), saved = errno;
    if ((state == SAMPLER_ON || state == SAMPLER_DONE) && sampler_lock()) {
        for (struct pvar_group *g = pvar.groups; g; g = g->next) pvar_group_unbind(g, "MPI_Finalize was called");
        sampler_unlock();
    }
    errno = saved;
}

void sampler_object(const struct chain_object *object)
{
    int bind = object->kind == CALL_WIN ? MPITX_BIND_MPI_WIN : MPITX_BIND_MPI_COMM;
    if (object->kind == CALL_FILE) return;
    switch (object->event) {
    case CHAIN_OBJECT_MADE: created(bind, object->handle, object->text); break;
    case CHAIN_OBJECT_NAMED: named(bind, object->handle, object->text); break;
    case CHAIN_OBJECT_FREEING: freeing(bind, object->handle); break;
    }
}
