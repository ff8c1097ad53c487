/* clone.h: copies the process without side effects on the program. */
#ifndef MPITX_CLONE_H
#define MPITX_CLONE_H

#include <sys/types.h>

/* Like fork, but pthread_atfork handlers do not run, and the child's exit sends no SIGCHLD and is seen only by waits with __WALL.
 * The child must call clone_ready before anything that may allocate, and must not return from the calling function. */
pid_t clone_process(void);

/* Allocator locks that another thread held during the copy stay locked in the child, because fork's handlers for them did not
 * run. The child takes them all here: it allocates and frees blocks larger than the thread's cache. If it returns, no allocator
 * lock is held, since the child has no other thread. If it blocks or crashes on a half-changed heap, the parent makes another copy;
 * such moments are short. */
void clone_ready(void);

#endif
