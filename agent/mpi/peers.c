#include "mpi/peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/agent.h"
#include "base/memory.h"
#include "mpi/functions.h"

enum { ENTRIES = 256, JOBS = 64 };

struct entry {
    uint64_t object;
    int32_t rank;
    uint32_t epoch;
    struct call_peer peer;
};

uint32_t peers_epochs[PEERS_EPOCHS];
uint64_t peers_world;
static AGENT_THREAD struct entry *entries; /* NULL: none yet */
static MPI_Group jobs[JOBS]; /* spawned jobs, with processes in the order of their MPI_COMM_WORLD; 0: none */
static int32_t job_count;
static MPI_Group parents; /* those who spawned ours */
static bool has_parents;
bool peers_have_world;

static const struct call_peer unknown = {CALL_NONE, CALL_NONE};

/* The group that an object's ranks refer to. */
static bool group_of(uint64_t object, bool window, MPI_Group *group)
{
    union mpi_handle handle = {.number = object};
    MPI_Comm comm;
    MPI_Win win;
    int inter = 0;
    memcpy(&comm, &handle, sizeof comm);
    memcpy(&win, &handle, sizeof win);
    if (window) return mpi.Win_get_group(win, group) == MPI_SUCCESS;
    if (mpi.Comm_test_inter(comm, &inter) != MPI_SUCCESS) return false;
    return (inter ? mpi.Comm_remote_group : mpi.Comm_group)(comm, group) == MPI_SUCCESS;
}

static int translate(MPI_Group from, int rank, MPI_Group to)
{
    int found = MPI_UNDEFINED;
    return mpi.Group_translate_ranks(from, 1, &rank, to, &found) == MPI_SUCCESS ? found : MPI_UNDEFINED;
}

static struct call_peer identify(MPI_Group group, int rank)
{
    MPI_Group world;
    int size = 0, found = MPI_UNDEFINED;
    if (mpi.Group_size(group, &size) != MPI_SUCCESS || rank < 0 || rank >= size) return unknown;
    if (mpi.Comm_group(COMM_WORLD, &world) != MPI_SUCCESS) return unknown;
    found = translate(group, rank, world);
    mpi.Group_free(&world);
    if (found != MPI_UNDEFINED) return (struct call_peer){0, found};
    for (int i = 0; i < JOBS; i++) {
        MPI_Group job = __atomic_load_n(&jobs[i], __ATOMIC_ACQUIRE);
        if (job && (found = translate(group, rank, job)) != MPI_UNDEFINED) return (struct call_peer){i + 1, found};
    }
    if (has_parents && (found = translate(group, rank, parents)) != MPI_UNDEFINED) return (struct call_peer){CALL_PARENT, found};
    return unknown;
}

struct call_peer peers_look_up(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    if (object == 0 || rank < 0 || epoch != peers_epoch(object)) return unknown;
    if (!entries && !(entries = memory_new(ENTRIES, sizeof *entries))) return unknown;
    struct entry *entry = &entries[peers_hash(object + (uint64_t)rank) % ENTRIES];
    if (entry->object == object && entry->rank == rank && entry->epoch == epoch) return entry->peer;
    MPI_Group group;
    if (!peers_have_world || !group_of(object, window, &group)) return unknown;
    *entry = (struct entry){object, rank, epoch, identify(group, rank)};
    mpi.Group_free(&group);
    return entry->peer;
}

void peers_start(void)
{
    MPI_Comm parent = NULL_COMM;
    peers_have_world = true;
    has_parents = mpi.Comm_get_parent && mpi.Comm_get_parent(&parent) == MPI_SUCCESS && parent != NULL_COMM &&
                  mpi.Comm_remote_group(parent, &parents) == MPI_SUCCESS;
}

int32_t peers_spawning(void)
{
    return __atomic_add_fetch(&job_count, 1, __ATOMIC_RELAXED);
}

void peers_spawned(union mpi_handle children, int32_t job)
{
    MPI_Group group;
    if (job <= JOBS && group_of(children.number, false, &group)) __atomic_store_n(&jobs[job - 1], group, __ATOMIC_RELEASE);
}

void peers_end(void)
{
    peers_have_world = false;
    for (int i = 0; i < JOBS; i++) {
        MPI_Group job = __atomic_exchange_n(&jobs[i], 0, __ATOMIC_ACQUIRE);
        if (job) mpi.Group_free(&job);
    }
    if (has_parents) mpi.Group_free(&parents);
    has_parents = false;
}

void peers_thread_end(void)
{
    free(entries);
    entries = NULL;
}
