/* doors.h: numbered entries. Each asks algorithms_pass where to jump to. */
#ifndef MPITX_ALGORITHMS_DOORS_H
#define MPITX_ALGORITHMS_DOORS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A list of functions has 12 bits for each, and 0 is none. */
enum { ALGORITHMS_DOORS = 2048, DOOR_BITS = 12 };

/* The address of a door; 0: there are none on this processor. */
uintptr_t algorithms_door(unsigned number);

/* Set before any door is used. */
extern uintptr_t (*algorithms_pass)(unsigned door);

#pragma GCC visibility pop

#endif
