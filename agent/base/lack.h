/* lack.h: what the agent asked for and did not get. From then on the process's numbers may be too small, and it is
 * marked as incomplete. The mark is kept in memory that always exists, at first here, later in the run's counters. */
#ifndef MPITX_LACK_H
#define MPITX_LACK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum agent_lack {
    LACK_MEMORY = 1,
    LACK_FILE = 2, /* a memory file for events or tables */
};

struct agent_lacks {
    uint64_t count, error, what; /* how often; the errno of the first time; all kinds, ORed */
};

/* From any thread, also in signal handlers. Keeps errno. */
void agent_lacks(enum agent_lack what, int error);

/* Moves the marks to another place; NULL: back to this file. */
void agent_lacks_move(struct agent_lacks *to);

#pragma GCC visibility pop

#endif
