/* unwind.h: the call stack from which the application calls MPI. */
#ifndef MPITX_UNWIND_H
#define MPITX_UNWIND_H

#include "chain/chain.h"

#pragma GCC visibility push(hidden)

struct chain_frame {
    uintptr_t address, pointer; /* the return address in a function, and the stack pointer at its call */
};

/* Loads the unwinder; false: it is missing. May take milliseconds. */
bool chain_unwind_start(void);

/* Stores at most so many frames, from the call's own return address on, and returns how many: at least that one. */
unsigned chain_unwind(const struct chain_call *call, struct chain_frame *frames, unsigned most);

/* Stores return addresses in the application's functions, at most so many, without those in code between the
 * application and MPI. It passes at most CHAIN_BETWEEN frames of such code. */
enum { CHAIN_SITES = 16, CHAIN_BETWEEN = 24 };
void chain_sites(const struct chain_call *call, uint64_t *stack, unsigned most);

#pragma GCC visibility pop

#endif
