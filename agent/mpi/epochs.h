/* epochs.h: how long the number of a handle refers to the same object. Without mpi.h; handles.c has the variables. */
#ifndef MPITX_EPOCHS_H
#define MPITX_EPOCHS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A handle refers to the same object as long as its epoch is the same. The epoch increases before an object with the
 * same hash is freed, and again after, as a callback of the call that frees it may use the object. */
enum { EPOCHS = 1 << 16 };
extern uint32_t epochs[EPOCHS];
extern uint64_t epochs_posted[EPOCHS]; /* the last object with the hash that requests were started with; 0: none */
extern uint64_t handles_world;  /* the handle of MPI_COMM_WORLD */
extern uint32_t epochs_of_types; /* increases when a datatype is freed */

static inline uint64_t epochs_hash(uint64_t object) { return (object * UINT64_C(0x9e3779b97f4a7c15)) >> 32; }

static inline uint32_t *epochs_place(uint64_t object) { return &epochs[epochs_hash(object) % EPOCHS]; }

static inline uint32_t epochs_now(uint64_t object) { return __atomic_load_n(epochs_place(object), __ATOMIC_RELAXED); }

/* A request is started. */
static inline void epochs_post(uint64_t object)
{
    uint64_t *posted = &epochs_posted[epochs_hash(object) % EPOCHS];
    if (__builtin_expect(__atomic_load_n(posted, __ATOMIC_RELAXED) != object, 0))
        __atomic_store_n(posted, object, __ATOMIC_RELAXED);
}

/* After an object was freed; peers_freeing is called before. */
static inline void epochs_freed(uint64_t object) { __atomic_fetch_add(epochs_place(object), 1, __ATOMIC_SEQ_CST); }

#pragma GCC visibility pop

#endif
