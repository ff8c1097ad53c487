#include "mpi/objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/agent.h"
#include "base/memory.h"
#include "mpi/functions.h"
#include "mpi/peers.h"

#define MAX_RANKS 65536

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

bool object_is_null(enum call_object kind, union mpi_handle object)
{
    if (object.number == 0) return true;
    return kind == CALL_WIN ? win_of(object) == NULL_WIN : comm_of(object) == NULL_COMM;
}

/* The MPI_COMM_WORLD ranks of a group's processes; NULL if unknown, for example without MPI_COMM_WORLD. */
static int32_t *ranks_of(MPI_Group group, int size)
{
    MPI_Group all;
    if (!peers_have_world || size <= 0 || size > MAX_RANKS || mpi.Comm_group(COMM_WORLD, &all) != MPI_SUCCESS) return NULL;
    int32_t *ranks = memory_get((size_t)size * sizeof *ranks);
    int *own = memory_get((size_t)size * sizeof *own);
    for (int i = 0; own && i < size; i++) own[i] = i;
    if (!ranks || !own || mpi.Group_translate_ranks(group, size, own, all, ranks) != MPI_SUCCESS) {
        free(ranks);
        ranks = NULL;
    }
    mpi.Group_free(&all);
    free(own);
    return ranks;
}

static bool is_inter(MPI_Comm comm)
{
    int inter = 0;
    return mpi.Comm_test_inter && mpi.Comm_test_inter(comm, &inter) == MPI_SUCCESS && inter;
}

struct object_facts object_ask(enum call_object kind, union mpi_handle object, bool with_ranks)
{
    struct object_facts facts = {0};
    char name[1024] = ""; /* more than any MPI_MAX_OBJECT_NAME */
    int length = 0, rc;
    MPI_Group group;
    if (kind == CALL_WIN) {
        if (mpi.Win_get_name) mpi.Win_get_name(win_of(object), name, &length);
        rc = mpi.Win_get_group(win_of(object), &group);
    } else {
        MPI_Comm comm = comm_of(object);
        if (mpi.Comm_get_name) mpi.Comm_get_name(comm, name, &length);
        facts.inter = is_inter(comm);
        mpi.Comm_size(comm, &facts.size);
        rc = with_ranks ? (facts.inter ? mpi.Comm_remote_group : mpi.Comm_group)(comm, &group) : MPI_ERR_OTHER;
    }
    if (rc == MPI_SUCCESS) {
        if (kind == CALL_WIN) mpi.Group_size(group, &facts.size);
        if (with_ranks) facts.ranks = ranks_of(group, facts.size);
        mpi.Group_free(&group);
    }
    snprintf(facts.name, sizeof facts.name, "%.*s", length > 0 && length < (int)sizeof name ? length : 0, name);
    return facts;
}

bool object_remote_is_smaller(enum call_object kind, union mpi_handle object)
{
    int here = 0, there = 0;
    if (kind != CALL_COMM || !is_inter(comm_of(object))) return false;
    return mpi.Comm_size(comm_of(object), &here) != MPI_SUCCESS || mpi.Comm_remote_size(comm_of(object), &there) != MPI_SUCCESS || here > there;
}

static uint64_t hash_ranks(MPI_Group group, int size)
{
    int32_t *ranks = ranks_of(group, size);
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!ranks) return 0;
    for (int i = 0; i < size && hash; i++) hash = ranks[i] < 0 ? 0 : (hash ^ (uint64_t)(agent_process.first + ranks[i] + 1)) * UINT64_C(1099511628211);
    free(ranks);
    return hash;
}

/* Adds a group, unless the library could not return it. */
static void add_group(struct object_group *to, int rc, MPI_Group *group)
{
    int size = 0;
    uint64_t hash = 0;
    if (rc == MPI_SUCCESS) {
        mpi.Group_size(*group, &size);
        if (to->size == 0 && mpi.Group_rank(*group, &to->rank) != MPI_SUCCESS) to->rank = -1;
        hash = hash_ranks(*group, size);
        mpi.Group_free(group);
    }
    bool known = hash && (to->hash || to->size == 0);
    to->hash = known ? to->hash + hash : 0;
    to->size += size;
}

struct object_group object_group(enum call_object kind, union mpi_handle object)
{
    struct object_group found = {.rank = -1};
    MPI_Group group;
    if (kind == CALL_WIN) {
        add_group(&found, mpi.Win_get_group(win_of(object), &group), &group);
        return found;
    }
    add_group(&found, mpi.Comm_group(comm_of(object), &group), &group);
    if (!is_inter(comm_of(object))) return found;
    found.side = found.hash;
    add_group(&found, mpi.Comm_remote_group(comm_of(object), &group), &group);
    return found;
}

int object_members(union mpi_handle window, union mpi_handle group, int32_t *ranks, int most)
{
    enum { MOST = 64 };
    int size = 0, own[MOST];
    MPI_Group members, all;
    memcpy(&members, &group, sizeof members);
    if (group.number == 0 || members == NULL_GROUP || mpi.Group_size(members, &size) != MPI_SUCCESS || size > most || size > MOST) return -1;
    if (mpi.Win_get_group(win_of(window), &all) != MPI_SUCCESS) return -1;
    for (int i = 0; i < size; i++) own[i] = i;
    int rc = size ? mpi.Group_translate_ranks(members, size, own, all, ranks) : MPI_SUCCESS;
    mpi.Group_free(&all);
    return rc == MPI_SUCCESS ? size : -1;
}
