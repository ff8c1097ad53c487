/* memory.h: reads memory of this process that may be gone. */
#ifndef MPITX_MEMORY_H
#define MPITX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Copies memory without a fault; false: it is not mapped. From any thread. Takes a system call. */
bool memory_read(uint64_t from, void *to, size_t bytes);

#pragma GCC visibility pop

#endif
