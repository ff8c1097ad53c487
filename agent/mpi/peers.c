#include "mpi/peers.h"

#include <errno.h>
#include <stdlib.h>

#include "base/agent.h"
#include "base/cancel.h"
#include "base/memory.h"
#include "mpi/ask.h"
#include "mpi/groups.h"

enum { ENTRIES = 256, JOBS = 64, DEPARTED = 32, MAX_RANKS = 65536 };

struct entry {
    uint64_t object;
    int32_t rank;
    uint32_t epoch;
    struct call_peer peer;
};

/* A communicator that was freed while requests may have been pending. */
struct departed {
    uint64_t object;
    uint32_t epoch; /* while it was alive */
    int32_t size;
    struct call_peer *peers; /* by rank */
};

static bool have_world; /* MPI_COMM_WORLD may be used: not with sessions only, nor after MPI_Finalize */
static AGENT_THREAD struct entry *entries; /* NULL: none yet */
static MPI_Group world;                    /* while have_world */
static MPI_Group jobs[JOBS]; /* spawned jobs, with processes in the order of their MPI_COMM_WORLD; 0: none */
static int32_t job_count;
static MPI_Group parents; /* those who spawned ours */
static bool has_parents;
static struct departed departed[DEPARTED];
static unsigned departures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for departed */

static const struct call_peer unknown = {CALL_NONE, CALL_NONE};

/* False: unknown. */
static bool translate_all(MPI_Group group, int count, const int *ranks, int *found)
{
    return have_world && ask_translate(group, count, ranks, world, found);
}

int32_t *groups_ranks(MPI_Group group, int size)
{
    if (size <= 0 || size > MAX_RANKS) return NULL;
    int32_t *ranks = memory_get((size_t)size * sizeof *ranks);
    int *own = memory_get((size_t)size * sizeof *own);
    for (int i = 0; own && i < size; i++) own[i] = i;
    if (!ranks || !own || !translate_all(group, size, own, ranks)) {
        free(ranks);
        ranks = NULL;
    }
    free(own);
    return ranks;
}

/* ---- processes ---- */

static int translate(MPI_Group from, int rank, MPI_Group to)
{
    int found = MPI_UNDEFINED;
    return ask_translate(from, 1, &rank, to, &found) ? found : MPI_UNDEFINED;
}

/* A process that is not in MPI_COMM_WORLD. */
static struct call_peer identify_other(MPI_Group group, int rank)
{
    int found;
    for (int i = 0; i < JOBS; i++) {
        MPI_Group job = __atomic_load_n(&jobs[i], __ATOMIC_ACQUIRE);
        if (job && (found = translate(group, rank, job)) != MPI_UNDEFINED) return (struct call_peer){i + 1, found};
    }
    if (has_parents && (found = translate(group, rank, parents)) != MPI_UNDEFINED)
        return (struct call_peer){CALL_PARENT, found};
    return unknown;
}

static struct call_peer identify(MPI_Group group, int rank)
{
    int found = MPI_UNDEFINED;
    if (rank < 0 || rank >= ask_group_size(group) || !translate_all(group, 1, &rank, &found)) return unknown;
    return found != MPI_UNDEFINED ? (struct call_peer){0, found} : identify_other(group, rank);
}

/* ---- communicators that were freed ---- */

static struct call_peer *identify_all(MPI_Group group, int size)
{
    int32_t *ranks = groups_ranks(group, size);
    struct call_peer *peers = ranks ? memory_get((size_t)size * sizeof *peers) : NULL;
    for (int i = 0; peers && i < size; i++)
        peers[i] = ranks[i] >= 0 ? (struct call_peer){0, ranks[i]} : identify_other(group, i);
    free(ranks);
    return peers;
}

static void depart(uint64_t object, uint32_t epoch)
{
    MPI_Group group;
    if (object == handles_world || !have_world || !ask_group(CALL_COMM, object, epoch, true, &group)) return;
    struct departed new = {.object = object, .epoch = epoch, .size = ask_group_size(group)};
    new.peers = identify_all(group, new.size);
    ask_free_group(&group);
    if (!new.peers) return;
    struct hold hold = hold_lock(&lock);
    struct departed *place = &departed[departures++ % DEPARTED];
    free(place->peers);
    *place = new;
    hold_unlock(&lock, hold);
}

static struct call_peer find_departed(uint64_t object, uint32_t epoch, int32_t rank)
{
    struct call_peer found = unknown;
    if (!__atomic_load_n(&departures, __ATOMIC_RELAXED)) return found;
    struct hold hold = hold_lock(&lock);
    for (const struct departed *d = departed; d < departed + DEPARTED; d++)
        if (d->peers && d->object == object && d->epoch == epoch && rank < d->size) found = d->peers[rank];
    hold_unlock(&lock, hold);
    return found;
}

/* The library may be about to refuse the handle; an object that requests were started with is known to be alive. */
void peers_freeing(enum call_object kind, uint64_t object)
{
    int saved = errno;
    uint64_t slot = epochs_hash(object) % EPOCHS;
    bool posted = object &&
                  __atomic_compare_exchange_n(&epochs_posted[slot], &(uint64_t){object}, 0, false, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED);
    if (kind == CALL_COMM && posted) depart(object, epochs_now(object));
    __atomic_fetch_add(&epochs[slot], 1, __ATOMIC_SEQ_CST);
    ask_settle();
    errno = saved;
}

/* ---- looking up ---- */

static struct entry *entry_of(uint64_t object, int32_t rank)
{
    return &entries[epochs_hash(object + (uint64_t)rank) % ENTRIES];
}

static __attribute__((noinline)) struct call_peer ask(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    if (object == 0 || rank < 0 || !have_world) return unknown;
    if (epoch != epochs_now(object)) return window ? unknown : find_departed(object, epoch, rank);
    if (!entries && !(entries = memory_new(ENTRIES, sizeof *entries))) return unknown;
    MPI_Group group;
    if (!ask_group(window ? CALL_WIN : CALL_COMM, object, epoch, true, &group)) return unknown;
    struct entry *entry = entry_of(object, rank);
    *entry = (struct entry){object, rank, epoch, identify(group, rank)};
    ask_free_group(&group);
    return entry->peer;
}

/* An entry is right also if its object was freed since. */
struct call_peer peers_look_up(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    const struct entry *entry = entries ? entry_of(object, rank) : NULL;
    if (entry && object && entry->object == object && entry->rank == rank && entry->epoch == epoch) return entry->peer;
    return ask(object, window, epoch, rank);
}

void peers_start(void)
{
    have_world = ask_group(CALL_COMM, handles_world, epochs_now(handles_world), false, &world);
    if (!have_world)
        agent_note("the processes at the other end of messages are not known: the MPI library did not tell the group "
                   "of MPI_COMM_WORLD");
    has_parents = ask_parents(&parents);
}

int32_t peers_spawning(void) { return __atomic_add_fetch(&job_count, 1, __ATOMIC_RELAXED); }

void peers_spawned(union mpi_handle children, int32_t job)
{
    MPI_Group group;
    if (job <= JOBS && ask_group(CALL_COMM, children.number, epochs_now(children.number), true, &group))
        __atomic_store_n(&jobs[job - 1], group, __ATOMIC_RELEASE);
}

void peers_end(void)
{
    bool had_world = have_world;
    have_world = false;
    for (int i = 0; i < JOBS; i++) {
        MPI_Group job = __atomic_exchange_n(&jobs[i], 0, __ATOMIC_ACQUIRE);
        if (job) ask_free_group(&job);
    }
    if (has_parents) ask_free_group(&parents);
    has_parents = false;
    if (had_world) ask_free_group(&world);
}

void peers_thread_end(void)
{
    free(entries);
    entries = NULL;
}
