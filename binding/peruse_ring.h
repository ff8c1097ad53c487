/* peruse_ring.h: callbacks of PERUSE write into a ring, as Go functions cannot run in signal handlers. */
#ifndef MPITX_PERUSE_RING_H
#define MPITX_PERUSE_RING_H
#include "shim/mpitx.h"

struct peruse_ring_event {
    int64_t time; /* ns, CLOCK_MONOTONIC */
    int64_t id;
    int64_t writer; /* the number of the handle in the ring */
    struct mpitx_peruse_spec spec;
};

/* A ring of a power of two of events. Any number of threads and signal handlers write, none of them waits; one reads. If it is full,
 * new events are dropped and counted. It is never released: a faulty library may call back at any time. */
struct peruse_ring;
struct peruse_ring *peruse_ring_new(uint64_t capacity);
int peruse_ring_take(struct peruse_ring *ring, struct peruse_ring_event *event); /* 0: there is none */
uint64_t peruse_ring_dropped(const struct peruse_ring *ring);
uint64_t peruse_ring_late(const struct peruse_ring *ring); /* calls of closed writers */

/* What a callback needs to know. It is never released either. */
struct peruse_writer;
struct peruse_writer *peruse_writer_new(struct peruse_ring *ring, int64_t number);
struct peruse_ring *peruse_writer_ring(const struct peruse_writer *writer);
void peruse_writer_close(struct peruse_writer *writer); /* its handle was released */

int mt_peruse_event_comm_register(const struct mpitx_table *t, int event, int object, struct peruse_writer *writer, mpitx_handle *handle);
int mt_peruse_event_comm_callback_set(const struct mpitx_table *t, mpitx_handle handle, struct peruse_writer *writer);
/* writer is NULL if the callback is not this package's. */
int mt_peruse_event_comm_callback_get(const struct mpitx_table *t, mpitx_handle handle, struct peruse_writer **writer);

#endif
