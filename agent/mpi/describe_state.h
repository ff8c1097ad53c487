/* describe_state.h: what the description keeps, for the layers above. Without mpi.h. */
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

/* A thread is in no call any more: they were left by longjmp, an exception or cancellation. */
static inline void describe_abandon(void)
{
    describe_thread.scratch_used = 0;
}

/* At the end of the calling thread. */
void describe_thread_end(void);

extern uint32_t describe_type_generation; /* datatypes were freed since */
extern uint64_t describe_lost_memory;     /* calls whose requests were not followed because memory was refused */

/* What is known of the process, once MPI is initialised. */
void describe_process(void);

#pragma GCC visibility pop

#endif
