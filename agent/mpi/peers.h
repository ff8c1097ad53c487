/* peers.h: the process that a rank in a communicator or window refers to. Without mpi.h.
 *
 * Processes are looked up on demand and kept in a small cache for each thread. An object's entries are discarded when it is freed, since
 * its handle may be reused. */
#ifndef MPITX_PEERS_H
#define MPITX_PEERS_H

#include "mpi/call.h"

#pragma GCC visibility push(hidden)

/* A handle refers to the same object as long as its epoch is the same. The epoch increases before an object with the same hash is freed,
 * and again after, as the application may use the object in a callback of the call that frees it. */
enum { PEERS_EPOCHS = 1 << 16 };
extern uint32_t peers_epochs[PEERS_EPOCHS];
extern uint64_t peers_posted[PEERS_EPOCHS]; /* the last object with the hash that requests were started with; 0: none */
extern uint64_t peers_world;  /* the handle of MPI_COMM_WORLD */
extern bool peers_have_world; /* MPI_COMM_WORLD may be used: not with sessions only, nor in sessions after MPI_Finalize */

static inline uint64_t peers_hash(uint64_t object)
{
    return (object * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

static inline uint32_t *peers_epoch_of(uint64_t object)
{
    return &peers_epochs[peers_hash(object) % PEERS_EPOCHS];
}

static inline uint32_t peers_epoch(uint64_t object)
{
    return __atomic_load_n(peers_epoch_of(object), __ATOMIC_RELAXED);
}

/* A request is started. */
static inline void peers_post(uint64_t object)
{
    uint64_t *posted = &peers_posted[peers_hash(object) % PEERS_EPOCHS];
    if (__builtin_expect(__atomic_load_n(posted, __ATOMIC_RELAXED) != object, 0)) __atomic_store_n(posted, object, __ATOMIC_RELAXED);
}

/* Before the object is freed. The processes of a communicator with requests are kept until these complete. */
void peers_freeing(enum call_object kind, uint64_t object);

/* Afterwards. */
static inline void peers_freed(uint64_t object)
{
    __atomic_fetch_add(peers_epoch_of(object), 1, __ATOMIC_SEQ_CST);
}

struct call_peer peers_look_up(uint64_t object, bool window, uint32_t epoch, int32_t rank);

/* The epoch must have been read while the object was alive. */
static inline struct call_peer peers_find(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    if (object == peers_world) return (struct call_peer){0, rank};
    return peers_look_up(object, window, epoch, rank);
}

/* Called once MPI is initialized, unless by a session. */
void peers_start(void);

/* The number of the job that this process is about to help to spawn: 1, 2, … */
int32_t peers_spawning(void);

/* The job is the remote group of this intercommunicator. */
void peers_spawned(union mpi_handle children, int32_t job);

/* Before MPI is finalized. */
void peers_end(void);

/* At the end of the calling thread. */
void peers_thread_end(void);

#pragma GCC visibility pop

#endif
