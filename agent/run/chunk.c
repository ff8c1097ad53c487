/* chunk.c: taking and sealing the chunks of a run; under the lock. */
#define _GNU_SOURCE
#include "run/internal.h"

bool run_has_free(const struct mpitx_run *run)
{
    for (uint32_t i = 0; i < run->live->chunks; i++)
        if (atomic_load_explicit((_Atomic uint32_t *)&run_slot(run, i)->state, memory_order_acquire) == RUN_SLOT_FREE)
            return true;
    return false;
}

bool run_take_chunk(struct mpitx_run *run, struct run_cursor *cursor, int kind, uint32_t max)
{
    struct run_chunk *found = NULL;
    int needed = kind == RUN_KIND_SAMPLES ? 2 : 1; /* the last free one is reserved for declarations and the end */
    for (uint32_t i = 0; i < run->live->chunks && needed; i++) {
        struct run_chunk *c = run_slot(run, i);
        if (atomic_load_explicit((_Atomic uint32_t *)&c->state, memory_order_acquire) == RUN_SLOT_FREE) {
            found = c;
            needed--;
        }
    }
    *cursor = (struct run_cursor){0};
    if (needed)
        return false;
    run_begin_chunk(run, found, kind, 0);
    *cursor = (struct run_cursor){.chunk = found, .room = max < found->capacity ? max & ~7u : found->capacity};
    found->first_ticks = kind == RUN_KIND_META ? run->ticks() : 0;
    atomic_store_explicit((_Atomic uint32_t *)&found->state, RUN_SLOT_OPEN, memory_order_release);
    return true;
}

void run_begin_chunk(struct mpitx_run *run, struct run_chunk *c, int kind, uint16_t chain)
{
    struct run_chunk head = {
        .magic = RUN_CHUNK_MAGIC, .version = RUN_FORMAT_VERSION, .header_bytes = sizeof head, .kind = (uint8_t)kind,
        .chain = chain, .stream = run->live->stream, .rank = run->live->rank,
        .capacity = run->live->chunk_bytes - (uint32_t)sizeof *c, .state = c->state,
    };
    memcpy(head.run_id, run->run_id, sizeof head.run_id);
    /* The sequence number changes first, so that a reader that copied the old contents notices. */
    atomic_store_explicit((_Atomic uint64_t *)&c->sequence, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    memcpy(c, &head, sizeof head);
    atomic_store_explicit((_Atomic uint64_t *)&c->sequence, ++run->sequence, memory_order_release);
}

bool run_in_ring(const struct mpitx_run *run, int kind)
{
    return (kind == RUN_KIND_SAMPLES || kind == RUN_KIND_EVENTS) && run->policy == MPITX_RUN_KEEP_LAST && run->ring_slots;
}

/* Flushes in this thread if there is no flusher; under the lock. */
static void flush_here(struct mpitx_run *run)
{
    struct run_signals h;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_block_sigxfsz(&h);
    run_flush_chunks(run);
    run_restore_sigxfsz(&h);
    pthread_setcancelstate(cancel, NULL);
}

void run_wake_flusher(struct mpitx_run *run, bool wait)
{
    if (run->threaded) {
        sem_post(&run->wake);
    } else if (wait ? run_try_lock_long(run) : run_try_lock_masked(run, 1)) {
        flush_here(run);
        run_unlock(run);
    }
}

void run_seal_chunk(struct mpitx_run *run, struct run_cursor *cursor)
{
    struct run_chunk *c = cursor->chunk;
    if (cursor->used) {
        c->last_ticks = c->kind == RUN_KIND_META ? run->ticks() : run->last_ticks;
        c->records = cursor->records;
        if (!run_in_ring(run, c->kind))
            run->written += sizeof *c + cursor->used;
    }
    atomic_store_explicit((_Atomic uint32_t *)&c->state, cursor->used ? RUN_SLOT_SEALED : RUN_SLOT_FREE, memory_order_release);
    *cursor = (struct run_cursor){0};
    if (run->threaded)
        sem_post(&run->wake);
    else
        flush_here(run);
}

bool run_seal_meta(struct mpitx_run *run)
{
    if (!run->meta.chunk)
        return true;
    if (!run_has_free(run))
        return false;
    run_write_counters(run);
    run->undeclared = false;
    run_seal_chunk(run, &run->meta);
    return true;
}
