/* sampler_object.c: communicators and windows that the application makes, names and frees. */
#define _GNU_SOURCE
#include "tools/sample/sampler.h"

#include <errno.h>
#include <stdio.h>

static bool following(void) { return atomic_load_explicit(&sampler.state, memory_order_relaxed) == SAMPLER_ON; }

/* MPICH lists more variables when the first window is made. */
static void look_for_late_variables(void)
{
    int n = 0, first = sampler.variable_count;
    if (!sampler.mpi_t || sampler.table->pvar_get_num(&n) != MPITX_SUCCESS || n <= sampler.library_count)
        return;
    sampler_select();
    if (sampler.variable_count == first)
        return;
    struct sampler_object none = {.bind = MPITX_BIND_NO_OBJECT};
    sampler_prove(&none);
    sampler_group_late(first);
}

/* Variables of windows can only be tried with a window, and those of sessions' programs with their communicators. */
static void created(int bind, union mpi_handle handle, const char *how)
{
    if (!following() || object_is_null(sampler_kind(bind), handle))
        return;
    int saved = errno;
    if (sampler_lock()) {
        if (bind == MPITX_BIND_MPI_WIN)
            look_for_late_variables();
        if (sampler.follow && !sampler_group_find(bind, handle)) { /* the parent is asked for again and again */
            struct sampler_object object = {.bind = bind, .handle = handle};
            if (!object_is_odd(sampler_kind(bind), handle))
                sampler_prove(&object);
            sampler_group_new(bind, handle, how);
        }
        sampler_unlock();
    }
    errno = saved;
}

static void named(int bind, union mpi_handle handle, const char *name)
{
    if (!following() || !name)
        return;
    int saved = errno;
    if (sampler_lock()) {
        struct sampler_group *g = sampler_group_find(bind, handle);
        if (g) {
            snprintf(g->objects[0].name, sizeof g->objects[0].name, "%s", name);
            if (g->declared)
                mpitx_run_object_name(sampler.run, g->objects[0].id, name);
        }
        sampler_unlock();
    }
    errno = saved;
}

static void freeing(int bind, union mpi_handle handle)
{
    if (atomic_load(&sampler.state) != SAMPLER_ON && atomic_load(&sampler.state) != SAMPLER_DONE)
        return;
    int saved = errno;
    if (sampler_lock()) {
        struct sampler_group *g = sampler_group_find(bind, handle);
        if (g) {
            sampler_take_last(g);
            sampler_group_free(g);
        }
        sampler_unlock();
    }
    errno = saved;
}

/* Its communicators end with it; of windows, and of what sessions have made, libraries do not say. */
void agent_world_ending(void)
{
    int state = atomic_load(&sampler.state), saved = errno;
    if ((state == SAMPLER_ON || state == SAMPLER_DONE) && sampler_lock()) {
        for (struct sampler_group *g = sampler.groups; g; g = g->next)
            sampler_group_unbind(g, "MPI_Finalize was called");
        sampler_unlock();
    }
    errno = saved;
}

void agent_comm_created(union mpi_handle comm, const char *how) { created(MPITX_BIND_MPI_COMM, comm, how); }
void agent_comm_named(union mpi_handle comm, const char *name) { named(MPITX_BIND_MPI_COMM, comm, name); }
void agent_comm_freeing(union mpi_handle comm) { freeing(MPITX_BIND_MPI_COMM, comm); }
void agent_win_created(union mpi_handle win, const char *how) { created(MPITX_BIND_MPI_WIN, win, how); }
void agent_win_named(union mpi_handle win, const char *name) { named(MPITX_BIND_MPI_WIN, win, name); }
void agent_win_freeing(union mpi_handle win) { freeing(MPITX_BIND_MPI_WIN, win); }
