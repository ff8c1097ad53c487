#define _GNU_SOURCE
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/lack.h"
#include "base/map.h"

static void *got(void *memory)
{
    if (__builtin_expect(!memory, 0)) agent_lacks(LACK_MEMORY, ENOMEM);
    return memory;
}

void *memory_get(size_t bytes) { return got(malloc(bytes)); }
void *memory_new(size_t count, size_t bytes) { return got(calloc(count, bytes)); }
void *memory_grow(void *old, size_t bytes) { return got(realloc(old, bytes)); }
char *memory_text(const char *text) { return memory_part(text, strlen(text)); }

char *memory_part(const char *text, size_t length)
{
    size_t bytes = strnlen(text, length);
    char *copy = memory_get(bytes + 1);
    if (!copy) return NULL;
    copy[bytes] = 0;
    return memcpy(copy, text, bytes);
}

char *memory_print(const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int bytes = vsnprintf(NULL, 0, format, arguments);
    char *text = bytes < 0 ? NULL : memory_get((size_t)bytes + 1);
    if (text) vsnprintf(text, (size_t)bytes + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

void *memory_map(size_t bytes, int flags)
{
    void *memory = map_memory(bytes, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return got(memory == MAP_FAILED ? NULL : memory);
}

/* Where process_vm_readv is forbidden, /proc/self/mem serves. */
bool memory_read(uint64_t from, void *to, size_t bytes)
{
    struct iovec local = {to, bytes}, remote = {(void *)(uintptr_t)from, bytes};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes) return true;
    if (errno == EFAULT) return false;
    int file = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : pread(file, to, bytes, (off_t)from);
    if (file >= 0) close(file);
    return n == (ssize_t)bytes;
}
