/* describe_state.h: the state of the describe functions, for the layers above. Without mpi.h. */
#ifndef MPITX_DESCRIBE_STATE_H
#define MPITX_DESCRIBE_STATE_H

#include "base/agent.h"
#include "mpi/call.h"

#include <stddef.h>

#pragma GCC visibility push(hidden)

struct describe_thread {
    uint64_t type, type_size; /* the last datatype's size */
    uint32_t type_generation;
    uint8_t scratch_used;
    void *scratch; /* see describe_requests.c */
    size_t scratch_size;
};

extern AGENT_THREAD struct describe_thread describe_thread;

/* The thread is in no call any more: longjmp, an exception or cancellation has left them. */
static inline void describe_abandon(void) { describe_thread.scratch_used = 0; }

/* At the end of the calling thread. */
void describe_thread_end(void);

extern uint64_t describe_lost_memory;     /* calls whose requests were not followed because memory ran out */
extern uint64_t describe_lost_sizes;      /* calls whose bytes are missing, because the library did not tell a size */

/* Fills in agent_process, once MPI is initialized. */
void describe_process(void);

#pragma GCC visibility pop

#endif
