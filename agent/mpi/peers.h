/* peers.h: the process that a rank in a communicator or window refers to. Without mpi.h.
 *
 * Processes are looked up on demand and kept in a small cache for each thread, with the object's epoch, since its
 * handle may be reused. */
#ifndef MPITX_PEERS_H
#define MPITX_PEERS_H

#include "mpi/call.h"
#include "mpi/epochs.h"

#pragma GCC visibility push(hidden)

/* Before the object is freed. The processes of a communicator with requests are kept until these complete. */
void peers_freeing(enum call_object kind, uint64_t object);

struct call_peer peers_look_up(uint64_t object, bool window, uint32_t epoch, int32_t rank);

/* The epoch must have been read while the object was alive. */
static inline struct call_peer peers_find(uint64_t object, bool window, uint32_t epoch, int32_t rank)
{
    if (object == handles_world) return (struct call_peer){0, rank};
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
