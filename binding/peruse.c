/* peruse.c: callbacks of PERUSE, and the rings that they write into. */
#define _GNU_SOURCE
#include "peruse_ring.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* A cell is free for the write number n if its turn is n, and written if its turn is n + 1. */
struct cell {
    _Atomic uint64_t turn;
    struct peruse_ring_event event;
};

struct peruse_ring {
    uint64_t mask;
    _Atomic uint64_t written, dropped, late;
    uint64_t taken;
    struct cell cells[];
};

struct peruse_writer {
    struct peruse_ring *ring;
    int64_t number;
    _Atomic int closed;
};

struct peruse_ring *peruse_ring_new(uint64_t capacity)
{
    struct peruse_ring *ring = calloc(1, sizeof *ring + capacity * sizeof ring->cells[0]);
    if (!ring)
        return NULL;
    ring->mask = capacity - 1;
    for (uint64_t i = 0; i < capacity; i++)
        ring->cells[i].turn = i; /* writes each page: a callback must not fault */
    return ring;
}

static int on_event(mpitx_handle handle, intptr_t id, const struct mpitx_peruse_spec *spec, void *param)
{
    const struct peruse_writer *writer = param;
    struct peruse_ring *ring = writer->ring;
    uint64_t n = ring->written;
    struct cell *cell;
    struct timespec now;
    (void)handle;
    if (writer->closed) {
        ring->late++;
        return 0;
    }
    for (;;) {
        cell = &ring->cells[n & ring->mask];
        int64_t ahead = (int64_t)(cell->turn - n);
        if (ahead < 0) {
            ring->dropped++;
            return 0;
        }
        if (ahead > 0)
            n = ring->written;
        else if (atomic_compare_exchange_weak(&ring->written, &n, n + 1))
            break;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    cell->event = (struct peruse_ring_event){(int64_t)now.tv_sec * 1000000000 + now.tv_nsec, (int64_t)id, writer->number, *spec};
    cell->turn = n + 1;
    return 0;
}

int peruse_ring_take(struct peruse_ring *ring, struct peruse_ring_event *event)
{
    struct cell *cell = &ring->cells[ring->taken & ring->mask];
    if (cell->turn != ring->taken + 1)
        return 0;
    *event = cell->event;
    cell->turn = ring->taken + ring->mask + 1;
    ring->taken++;
    return 1;
}

uint64_t peruse_ring_dropped(const struct peruse_ring *ring) { return ring->dropped; }

uint64_t peruse_ring_late(const struct peruse_ring *ring) { return ring->late; }

struct peruse_writer *peruse_writer_new(struct peruse_ring *ring, int64_t number)
{
    struct peruse_writer *writer = calloc(1, sizeof *writer);
    if (writer) {
        writer->ring = ring;
        writer->number = number;
    }
    return writer;
}

struct peruse_ring *peruse_writer_ring(const struct peruse_writer *writer) { return writer->ring; }
void peruse_writer_close(struct peruse_writer *writer) { writer->closed = 1; }

int mt_peruse_event_comm_register(const struct mpitx_table *t, int event, int object, struct peruse_writer *writer, mpitx_handle *handle)
{
    return t->peruse_event_comm_register(event, object, on_event, writer, handle);
}

int mt_peruse_event_comm_callback_set(const struct mpitx_table *t, mpitx_handle handle, struct peruse_writer *writer)
{
    return t->peruse_event_comm_callback_set(handle, on_event, writer);
}

int mt_peruse_event_comm_callback_get(const struct mpitx_table *t, mpitx_handle handle, struct peruse_writer **writer)
{
    mpitx_peruse_fn *function = NULL;
    void *param = NULL;
    int rc = t->peruse_event_comm_callback_get(handle, &function, &param);
    *writer = function == on_event ? param : NULL;
    return rc;
}
