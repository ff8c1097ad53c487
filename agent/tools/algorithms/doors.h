/* doors.h: numbered entries. Each asks algorithms_pass where to jump to, with the arguments that registers and the stack have, and the
 * caller's frame pointer. */
#ifndef MPITX_ALGORITHMS_DOORS_H
#define MPITX_ALGORITHMS_DOORS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { ALGORITHMS_DOORS = 2048 };

/* The address of a door; 0: there are none on this processor. */
uintptr_t algorithms_door(unsigned number);

/* Set before any door is used. */
extern uintptr_t (*algorithms_pass)(unsigned door, const uintptr_t *registers, const uintptr_t *stack, uintptr_t base);

#pragma GCC visibility pop

#endif
