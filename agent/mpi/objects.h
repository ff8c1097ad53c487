/* objects.h: questions about communicators and windows. Without mpi.h. */
#ifndef MPITX_OBJECTS_H
#define MPITX_OBJECTS_H

#include "mpi/call.h"

#pragma GCC visibility push(hidden)

/* Ranks refer to the processes of `peers`: in an intercommunicator the remote group, else the own one. */
struct object_facts {
    int size;       /* of the own group, which libraries report one element per process for; 0: unknown */
    int peers;      /* the size of the group that ranks refer to; 0: unknown */
    bool inter;     /* an intercommunicator */
    int32_t *ranks; /* of the peers in MPI_COMM_WORLD, freed by the caller; NULL: unknown */
    char name[128];
};

bool object_is_null(enum call_object kind, union mpi_handle object);

/* Asks the library about an object that was alive in this epoch; for ranks only if with_ranks is set. */
struct object_facts object_ask(enum call_object kind, union mpi_handle object, uint32_t epoch, bool with_ranks);

/* Whether libraries read beyond the data of the peers: they report one element per process of the own group, also for
 * an intercommunicator whose remote group is smaller. Also if the groups are unknown. */
static inline bool object_peers_are_fewer(const struct object_facts *facts)
{
    return facts->size == 0 || facts->peers < facts->size;
}

/* The processes of a communicator or window, of both groups in an intercommunicator. */
struct object_group {
    int size;      /* 0: unknown */
    uint64_t hash; /* of their ranks in MPI_COMM_WORLD, in the order of the group; 0: unknown */
    uint64_t side; /* the same of the local group of an intercommunicator; 0: not one, or unknown */
    int rank;      /* of this process, in the local group; -1 unknown */
};
struct object_group object_group(enum call_object kind, union mpi_handle object, uint32_t epoch);

/* The ranks in MPI_COMM_WORLD of the neighbors that send to this process in a communicator with a topology. Returns how
 * many they are; -1: it has none, they are too many, or they are not known. */
enum { OBJECT_NEIGHBORS = 256 };
int object_neighbors(union mpi_handle comm, uint32_t epoch, int32_t ranks[OBJECT_NEIGHBORS]);

/* The ranks in a window of the processes of a group that the program passes to MPI_Win_post or MPI_Win_start. Returns
 * how many they are; -1: unknown, or more than `most`. */
int object_members(union mpi_handle window, union mpi_handle group, int32_t *ranks, int most);

#pragma GCC visibility pop

#endif
