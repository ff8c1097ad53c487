#include "mpi/objects.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/agent.h"
#include "base/memory.h"
#include "mpi/ask.h"
#include "mpi/groups.h"

bool object_is_null(enum call_object kind, union mpi_handle object)
{
    if (object.number == 0) return true;
    return object.number == (kind == CALL_WIN ? HANDLE_NUMBER(NULL_WIN) : HANDLE_NUMBER(NULL_COMM));
}

struct object_facts object_ask(enum call_object kind, union mpi_handle object, uint32_t epoch, bool with_ranks)
{
    struct object_facts facts = {0};
    struct ask_comm comm;
    char name[ASK_NAME];
    MPI_Group group;
    ask_name(kind, object.number, epoch, name);
    snprintf(facts.name, sizeof facts.name, "%.127s", name);
    if (kind == CALL_COMM && ask_comm(object.number, epoch, &comm)) {
        facts.size = comm.size;
        facts.peers = comm.peers;
        facts.inter = comm.inter;
    }
    if ((kind == CALL_WIN || with_ranks) && ask_group(kind, object.number, epoch, true, &group)) {
        facts.peers = ask_group_size(group);
        if (kind == CALL_WIN) facts.size = facts.peers;
        if (with_ranks) facts.ranks = groups_ranks(group, facts.peers);
        ask_free_group(&group);
    }
    return facts;
}

static uint64_t hash_ranks(MPI_Group group, int size)
{
    int32_t *ranks = groups_ranks(group, size);
    uint64_t hash = UINT64_C(14695981039346656037);
    if (!ranks) return 0;
    for (int i = 0; i < size && hash; i++)
        hash = ranks[i] < 0 ? 0 : (hash ^ (uint64_t)(agent_process.first + ranks[i] + 1)) * UINT64_C(1099511628211);
    free(ranks);
    return hash;
}

/* Adds a group, unless the library could not return it. */
static void add_group(struct object_group *to, bool known, MPI_Group *group)
{
    int size = 0;
    uint64_t hash = 0;
    if (known) {
        size = ask_group_size(*group);
        if (to->size == 0) to->rank = ask_group_rank(*group);
        hash = hash_ranks(*group, size);
        ask_free_group(group);
    }
    to->hash = hash && (to->hash || to->size == 0) ? to->hash + hash : 0;
    to->size += size;
}

struct object_group object_group(enum call_object kind, union mpi_handle object, uint32_t epoch)
{
    struct object_group found = {.rank = -1};
    struct ask_comm comm = {.inter = false};
    MPI_Group group;
    if (kind == CALL_COMM && !ask_comm(object.number, epoch, &comm)) return found;
    add_group(&found, ask_group(kind, object.number, epoch, false, &group), &group);
    if (!comm.inter) return found;
    found.side = found.hash;
    add_group(&found, ask_group(kind, object.number, epoch, true, &group), &group);
    return found;
}

int object_members(union mpi_handle window, union mpi_handle group, int32_t *ranks, int most)
{
    MPI_Group all;
    if (!ask_group(CALL_WIN, window.number, epochs_now(window.number), false, &all)) return -1;
    int count = ask_members(group.number, all, ranks, most);
    ask_free_group(&all);
    return count;
}

_Static_assert((int)OBJECT_NEIGHBORS == (int)ASK_SOURCES, "one bound");

int object_neighbors(union mpi_handle comm, uint32_t epoch, int32_t ranks[OBJECT_NEIGHBORS])
{
    MPI_Group group;
    int count = ask_sources(comm.number, epoch, ranks);
    if (count <= 0) return count;
    if (!ask_group(CALL_COMM, comm.number, epoch, false, &group)) return -1;
    int size = ask_group_size(group);
    int32_t *world = groups_ranks(group, size);
    ask_free_group(&group);
    for (int i = 0; i < count && world; i++) {
        ranks[i] = ranks[i] >= 0 && ranks[i] < size ? world[ranks[i]] : -1;
        if (ranks[i] < 0) count = -1;
    }
    if (!world) count = -1;
    free(world);
    return count;
}
