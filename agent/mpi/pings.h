/* pings.h: the only messages that the agent sends: with --sync, on a communicator of its own, right after MPI_Init. */
#ifndef MPITX_PINGS_H
#define MPITX_PINGS_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A message to rank 0 and back, in ticks: when this process sent it, when rank 0 received and answered it, and when the
 * answer came. The times of rank 0 are by its own clock. */
struct ping {
    uint64_t sent, received, answered, back;
};

enum { PINGS = 20 };

/* Makes a communicator of these ranks of MPI_COMM_WORLD, in ascending order, rank 0 among them. All of them must call
 * it; in other processes it does nothing. Each exchanges messages with rank 0, one after the other. Returns how many;
 * rank 0 gets 0. */
int pings_exchange(const int *ranks, int count, struct ping pings[PINGS]);

#pragma GCC visibility pop

#endif
