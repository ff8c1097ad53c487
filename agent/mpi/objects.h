/* objects.h: questions about communicators and windows. Without mpi.h. */
#ifndef MPITX_OBJECTS_H
#define MPITX_OBJECTS_H

#include "mpi/call.h"

#pragma GCC visibility push(hidden)

struct object_facts {
    int size;       /* of its group; 0: unknown */
    bool inter;     /* an intercommunicator: the ranks are the remote group's */
    int32_t *ranks; /* of the group's processes in MPI_COMM_WORLD, freed by the caller; NULL: unknown */
    char name[128];
};

bool object_is_null(enum call_object kind, union mpi_handle object);

/* Asks the library about an object; for ranks only if with_ranks is set. */
struct object_facts object_ask(enum call_object kind, union mpi_handle object, bool with_ranks);

/* The processes of a communicator or window, of both groups in an intercommunicator. */
struct object_group {
    int size;      /* 0: unknown */
    uint64_t hash; /* of their ranks in MPI_COMM_WORLD, in the order of the group; 0: unknown */
    uint64_t side; /* the same of the local group of an intercommunicator; 0: not one, or unknown */
    int rank;      /* of this process, in the local group; -1 unknown */
};
struct object_group object_group(enum call_object kind, union mpi_handle object);

/* The ranks in a window of a group's processes, which the program has just passed to MPI_Win_post or MPI_Win_start. Returns how many they
 * are; -1: unknown, or more than `most`. */
int object_members(union mpi_handle window, union mpi_handle group, int32_t *ranks, int most);

/* Whether this is an intercommunicator whose local group is larger than its remote group. Libraries report one element per local process
 * for it, and read beyond the data of the remote group. */
bool object_remote_is_smaller(enum call_object kind, union mpi_handle object);

#pragma GCC visibility pop

#endif
