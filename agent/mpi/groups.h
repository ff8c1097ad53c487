/* groups.h: the ranks of a group's processes in MPI_COMM_WORLD. With mpi.h. */
#ifndef MPITX_GROUPS_H
#define MPITX_GROUPS_H

#include "mpi/ask.h"

#pragma GCC visibility push(hidden)

/* The caller frees them. NULL: unknown, for example without MPI_COMM_WORLD. Processes outside of it have negative
 * ranks. */
int32_t *groups_ranks(MPI_Group group, int size);

#pragma GCC visibility pop

#endif
