/* sampler_mpi.c: the few questions to MPI that need mpi.h. The library's own functions are called, not the interposed. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sample/sampler.h"

#define MOST_RANKS 65536

static struct {
    __typeof__(MPI_Comm_size) *Comm_size, *Comm_remote_size;
    __typeof__(MPI_Comm_test_inter) *Comm_test_inter;
    __typeof__(MPI_Comm_get_name) *Comm_get_name;
    __typeof__(MPI_Comm_group) *Comm_group, *Comm_remote_group;
    __typeof__(MPI_Win_get_name) *Win_get_name;
    __typeof__(MPI_Win_get_group) *Win_get_group;
    __typeof__(MPI_Group_size) *Group_size;
    __typeof__(MPI_Group_free) *Group_free;
    __typeof__(MPI_Group_translate_ranks) *Group_translate_ranks;
} mpi;

static void *library;
static MPI_Comm null_comm, world;
static MPI_Win null_win;

static void *routine(const char *name)
{
    char buf[96];
    snprintf(buf, sizeof buf, "PMPI_%s", name);
    void *f = dlsym(library, buf);
    return f ? f : dlsym(library, buf + 1);
}

#ifdef OPEN_MPI
/* A program that names a datum of a library is given a copy of its own (R_X86_64_COPY), which the library then uses too: the
 * global scope knows that one. It does not know what was loaded with RTLD_LOCAL. */
static void *datum(const char *name)
{
    void *p = dlsym(RTLD_DEFAULT, name);
    return p ? p : dlsym(library, name);
}
#endif

void sampler_mpi_bind(void *handle)
{
    library = handle;
#define BIND(name) mpi.name = (__typeof__(mpi.name))routine(#name)
    BIND(Comm_size), BIND(Comm_remote_size), BIND(Comm_test_inter), BIND(Comm_get_name), BIND(Comm_group), BIND(Comm_remote_group);
    BIND(Win_get_name), BIND(Win_get_group), BIND(Group_size), BIND(Group_free), BIND(Group_translate_ranks);
#ifdef OPEN_MPI
    null_comm = datum("ompi_mpi_comm_null");
    null_win = datum("ompi_mpi_win_null");
    world = datum("ompi_mpi_comm_world");
#else
    null_comm = MPI_COMM_NULL;
    null_win = MPI_WIN_NULL;
    world = MPI_COMM_WORLD;
#endif
}

static MPI_Comm comm_of(union mpi_handle h)
{
    MPI_Comm c;
    memcpy(&c, &h, sizeof c);
    return c;
}

static MPI_Win win_of(union mpi_handle h)
{
    MPI_Win w;
    memcpy(&w, &h, sizeof w);
    return w;
}

bool sampler_mpi_is_null(int bind, union mpi_handle handle)
{
    if (handle.number == 0)
        return true;
    return bind == MPITX_BIND_MPI_WIN ? win_of(handle) == null_win : comm_of(handle) == null_comm;
}

/* The processes of a group by their ranks in MPI_COMM_WORLD; frees the group. Without a world (sessions): unknown. */
static int32_t *ranks_of(MPI_Group group, int size)
{
    MPI_Group all;
    int32_t *ranks = NULL;
    int *own = NULL;
    if (agent_process.sessions || size <= 0 || size > MOST_RANKS || mpi.Comm_group(world, &all) != MPI_SUCCESS)
        goto done;
    ranks = malloc((size_t)size * sizeof *ranks);
    own = malloc((size_t)size * sizeof *own);
    if (ranks && own) {
        for (int i = 0; i < size; i++)
            own[i] = i;
        if (mpi.Group_translate_ranks(group, size, own, all, ranks) != MPI_SUCCESS) {
            free(ranks);
            ranks = NULL;
        }
    }
    mpi.Group_free(&all);
    free(own);
done:
    mpi.Group_free(&group);
    return own ? ranks : NULL;
}

static bool is_inter(MPI_Comm comm)
{
    int inter = 0;
    return mpi.Comm_test_inter && mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

void sampler_mpi_describe(struct sampler_object *object, bool with_ranks)
{
    char name[1024] = ""; /* more than any MPI_MAX_OBJECT_NAME */
    int length = 0, size = 0;
    MPI_Group group;
    object->size = 0;
    object->ranks = NULL;
    if (object->bind == MPITX_BIND_MPI_WIN) {
        MPI_Win win = win_of(object->handle);
        if (mpi.Win_get_name)
            mpi.Win_get_name(win, name, &length);
        if (mpi.Win_get_group && mpi.Group_size && mpi.Win_get_group(win, &group) == MPI_SUCCESS) {
            mpi.Group_size(group, &size);
            object->ranks = ranks_of(group, with_ranks ? size : 0);
        }
    } else {
        MPI_Comm comm = comm_of(object->handle);
        if (mpi.Comm_get_name)
            mpi.Comm_get_name(comm, name, &length);
        mpi.Comm_size(comm, &size);
        object->inter = is_inter(comm);
        __typeof__(MPI_Comm_group) *group_of = object->inter ? mpi.Comm_remote_group : mpi.Comm_group;
        if (with_ranks && group_of && group_of(comm, &group) == MPI_SUCCESS)
            object->ranks = ranks_of(group, size);
    }
    object->size = size;
    snprintf(object->name, sizeof object->name, "%.*s", length > 0 && length < (int)sizeof name ? length : 0, name);
}

bool sampler_mpi_odd(const struct sampler_object *object)
{
    int here = 0, there = 0;
    if (object->bind != MPITX_BIND_MPI_COMM || !is_inter(comm_of(object->handle)))
        return false;
    return !mpi.Comm_remote_size || mpi.Comm_size(comm_of(object->handle), &here) != MPI_SUCCESS ||
           mpi.Comm_remote_size(comm_of(object->handle), &there) != MPI_SUCCESS || here > there;
}
