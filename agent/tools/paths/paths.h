/* paths.h: what shows over which transports this process reached others. docs/run-format.md describes the table.
 *
 *     paths.c    start and end
 *     table.c    the table
 *     layers.c   functions below the MPI library that are followed: operations on endpoints of UCX, single copies
 *     openmpi.c  Open MPI's own tables: which BTL components it uses for a process
 *     sockets.c  the process's TCP connections, and the memory that it may share with others */
#ifndef MPITX_TOOLS_PATHS_H
#define MPITX_TOOLS_PATHS_H

#include "tools/tool.h"

#pragma GCC visibility push(hidden)

/* A row: what was seen (kind), which one (name, id), to which rank (-1: not known), and its numbers. */
struct paths_seen {
    const char *kind, *name;
    int32_t rank;
    uint64_t id, peer;                      /* identify this process's part, and the other's */
    uint64_t count, bytes, received, failed; /* operations; bytes to the other and from it; failures, or segments sent again */
    uint64_t code;                          /* the first error, or a limit in bytes */
};
void paths_add(const struct paths_seen *seen);
bool paths_declare(void); /* false: the run is full */
void paths_close(void);

void layers_follow(void); /* follows the objects that are loaded; may be repeated */
void layers_write(bool asking); /* asking: the library and UCX may be asked, too */
void openmpi_write(void);
void sockets_write(void);

#pragma GCC visibility pop

#endif
