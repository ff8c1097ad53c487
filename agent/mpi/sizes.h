/* sizes.h: what the agent remembers of datatypes and communicators, so that it need not ask the library about the
 * arguments of a call before the library has accepted them. Without mpi.h.
 *
 * Tables have a fixed size, and later entries replace earlier ones. Others are asked for after a call that
 * succeeded. */
#ifndef MPITX_SIZES_H
#define MPITX_SIZES_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- datatypes ---- */

bool sizes_find_type(uint64_t type, uint64_t *size);
void sizes_add_type(uint64_t type, uint64_t size);
void sizes_remove_type(uint64_t type); /* before it is freed */

/* ---- communicators, by handle and epoch ---- */

struct sizes_comm {
    uint64_t comm;
    uint32_t epoch;
    int32_t rank, size, peers; /* see struct ask_comm */
    int32_t in, out;           /* these three if has_neighbors: see struct ask_neighbors */
    uint64_t absent;
    bool inter, has_neighbors;
};

bool sizes_find_comm(uint64_t comm, uint32_t epoch, struct sizes_comm *found);
void sizes_add_comm(const struct sizes_comm *comm);

#pragma GCC visibility pop

#endif
