/* callers.h: which functions of the MPI library a call came from, for libraries that hide their functions. */
#ifndef MPITX_ALGORITHMS_CALLERS_H
#define MPITX_ALGORITHMS_CALLERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { CALLERS_CHAINS = 1024 };

/* NULL, or why chains cannot be found. */
const char *callers_start(void);

/* The chain of functions of the library through which a call came, without the innermost one. frame: after its return
 * address; base: rbp at the call. 0: not known. */
unsigned callers_find(const uintptr_t *frame, uintptr_t base);

/* The build ID of the library. */
const char *callers_build(void);

/* Writes a chain, as offsets in the library: "2af00/2b040/1f320", the outermost function first. Returns the length. */
size_t callers_write(char *text, size_t room, unsigned chain);

#pragma GCC visibility pop

#endif
