/* follow.h: the objects other than communicators, windows and files that the program makes, ends and names. With mpi.h.
 *
 * The wrappers call these functions for calls that count. A request may end in a call that completes it, and not
 * before: it is taken when the call begins, and left when the call has returned. */
#ifndef MPITX_FOLLOW_H
#define MPITX_FOLLOW_H

#include "mpi/call.h"
#include "mpi/handles.h"

#pragma GCC visibility push(hidden)

void follow_made(int function, enum call_object kind, uint64_t object); /* predefined objects and null are left out */
void follow_named(enum call_object kind, uint64_t object, const char *name);
void follow_ending(enum call_object kind, uint64_t object); /* before the call */
void follow_taken(int count, const MPI_Request *requests);
void follow_left(int count, const MPI_Request *requests);

#pragma GCC visibility pop

#endif
