/* cfi.h: the size of a function's frame at a call, from the unwind tables of its object. For stacks of other threads. */
#ifndef MPITX_CFI_H
#define MPITX_CFI_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Loads what finds unwind tables; false: it is missing. May take milliseconds. */
bool cfi_start(void);

/* The distance from the stack pointer at the call that returns to this address to the frame of the function's caller; 0: unknown. */
uintptr_t cfi_frame_size(uintptr_t address);

#pragma GCC visibility pop

#endif
