/* objects.h: questions about communicators and windows. Without mpi.h. */
#ifndef MPITX_OBJECTS_H
#define MPITX_OBJECTS_H

#include "mpi/call.h"

#pragma GCC visibility push(hidden)

struct object_facts {
    int size;       /* of its group; 0 unknown */
    bool inter;     /* an intercommunicator: the ranks are the other group's */
    int32_t *ranks; /* of the group's processes in MPI_COMM_WORLD, to be freed; NULL unknown */
    char name[128];
};

bool object_is_null(enum call_object kind, union mpi_handle object);

/* Ranks only if asked for. */
struct object_facts object_ask(enum call_object kind, union mpi_handle object, bool with_ranks);

/* An intercommunicator with more processes here than there: libraries have an element for each here, and read beyond there. */
bool object_is_odd(enum call_object kind, union mpi_handle object);

#pragma GCC visibility pop

#endif
