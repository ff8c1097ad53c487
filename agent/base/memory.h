/* memory.h: memory of the agent, and memory of this process that may be gone. */
#ifndef MPITX_MEMORY_H
#define MPITX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#pragma GCC visibility push(hidden)

/* All memory of the agent comes from these. They return NULL, and mark the process as incomplete (lack.h), if out of
 * memory. */
void *memory_get(size_t bytes);
void *memory_new(size_t count, size_t bytes); /* zeros */
void *memory_grow(void *old, size_t bytes);
char *memory_text(const char *text);
char *memory_part(const char *text, size_t length);
char *memory_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *memory_map(size_t bytes, int flags); /* zeros, private; more flags of mmap. Given back with unmap_memory */

/* Copies memory without a fault; false: it is not mapped. From any thread. Takes a system call. */
bool memory_read(uint64_t from, void *to, size_t bytes);

#pragma GCC visibility pop

#endif
