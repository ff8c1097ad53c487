/* peers.h: which process a rank means, whatever communicator or window it is a rank of. Without mpi.h.
 *
 * Found when it is first asked for, and kept in a small cache for each thread. What is kept of an object ends when the object is freed,
 * since its handle may be given again. */
#ifndef MPITX_PEERS_H
#define MPITX_PEERS_H

#include "mpi/call.h"

#pragma GCC visibility push(hidden)

/* An object that a rank belongs to, and when: it is asked only while no object with its place was freed since. */
enum { PEERS_EPOCHS = 1024 };
extern uint32_t peers_epochs[PEERS_EPOCHS];
extern uint64_t peers_world;  /* the handle of MPI_COMM_WORLD */
extern bool peers_have_world; /* it may be asked: not where there are only sessions, nor where these go on after MPI_Finalize */

static inline uint64_t peers_hash(uint64_t object)
{
    return (object * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
}

static inline uint32_t peers_epoch(uint64_t object)
{
    return __atomic_load_n(&peers_epochs[peers_hash(object) % PEERS_EPOCHS], __ATOMIC_RELAXED);
}

/* Before the object is freed. */
static inline void peers_freeing(uint64_t object)
{
    __atomic_fetch_add(&peers_epochs[peers_hash(object) % PEERS_EPOCHS], 1, __ATOMIC_RELAXED);
}

struct call_peer peers_look(uint64_t object, bool window, uint32_t epoch, int32_t rank);

/* The epoch was read while the object was known to be alive. */
static inline struct call_peer peers_find(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    if (object == peers_world) return (struct call_peer){0, rank};
    return peers_look(object, window, epoch, rank);
}

/* Once MPI is initialised, with a world. */
void peers_start(void);

/* The other group of this intercommunicator is a job that this process has helped to start. */
void peers_spawned(union mpi_handle children);

/* Before MPI is finalised. */
void peers_end(void);

/* At the end of the calling thread. */
void peers_thread_end(void);

#pragma GCC visibility pop

#endif
