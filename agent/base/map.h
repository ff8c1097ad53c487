/* map.h: mmap and munmap as plain system calls. Communication libraries (UCX's libucm) replace libc's functions by
 * their own, which hold a lock: a signal handler that leaves them by siglongjmp keeps it for good, and MPI_Finalize
 * waits for it. What the agent maps concerns no library: it is never sent, and so never registered. */
#ifndef MPITX_MAP_H
#define MPITX_MAP_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void *map_memory(size_t bytes, int flags, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
}

static inline void unmap_memory(void *memory, size_t bytes) { syscall(SYS_munmap, memory, bytes); }

#endif
