/* clone.h: a copy of the process, made so that nobody notices. */
#ifndef MPITX_CLONE_H
#define MPITX_CLONE_H

#include <sys/types.h>

/* As fork, but handlers of pthread_atfork do not run, the child's end sends no SIGCHLD, and only waits with __WALL find it. The
 * child must call clone_ready before anything that may allocate, and must not return from where it was made. */
pid_t clone_process(void);

/* Locks of the allocator that another thread of the parent held when the process was copied stay held for ever, as the handlers
 * that fork has for them did not run either. So the child takes them first, by allocating and freeing what no cache of the thread's
 * own has room for. Where it comes back, none is held that this thread needs, as nobody else can take one; where it does not, or
 * crashes on what was half changed, the parent makes another copy, of another moment: such moments are short. */
void clone_ready(void);

#endif
