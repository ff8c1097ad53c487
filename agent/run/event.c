/* event.c: events. Each thread writes to its own chunk and uses shared state only when the chunk is full. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PREFETCH_AHEAD 256

/* ---- declarations ---- */

static uint32_t type_bytes(int type)
{
    static const uint8_t bytes[] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};
    return type > 0 && type < (int)(sizeof bytes) ? bytes[type] : 0;
}

/* Lays out fields from an offset, a multiple of 8, and adds up the bytes of their declaration. 0: a field is
 * invalid. */
static uint64_t lay_out(const struct mpitx_run_field *fields, uint32_t count, uint64_t at, size_t *declaration)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = type_bytes(fields[i].type), n = fields[i].count ? fields[i].count : 1;
        if (!size || n > 65536) return 0;
        at = (at + size - 1) / size * size + size * n;
        *declaration += sizeof(struct run_field_body) + 8 + run_text_of(fields[i].name, RUN_MAX_TEXT).n +
                        run_text_of(fields[i].unit, RUN_MAX_TEXT).n;
    }
    return pad8(at);
}

int run_declare_fields(struct mpitx_run *run, int type, struct run_fields_body *body, const char *name,
                       const struct mpitx_run_field *fields)
{
    struct run_text title = run_text_of(name, RUN_MAX_TEXT);
    size_t bytes = sizeof *body + 4 + title.n;
    uint64_t end = body->count <= 1024 ? lay_out(fields, body->count, body->bytes, &bytes) : 0;
    /* A chunk must have room for two events and the records that may precede them. */
    if (!end || end * 2 + 128 > run->live->chunk_bytes - sizeof(struct run_chunk)) return MPITX_RUN_INVALID;
    body->bytes = (uint32_t)end;
    for (uint32_t i = 0; i < body->count; i++) run->addresses |= fields[i].meaning == MPITX_RUN_ADDRESS;
    uint8_t *p = run_meta_begin(run, type, bytes, false);
    if (!p) return MPITX_RUN_FULL;
    p = run_put_text(run_put(p, body, sizeof *body), title);
    for (uint32_t i = 0; i < body->count; i++) {
        struct run_field_body f =
            {fields[i].type, fields[i].meaning, fields[i].merge, 0, fields[i].count ? fields[i].count : 1};
        p = run_put_text(run_put(p, &f, sizeof f), run_text_of(fields[i].name, RUN_MAX_TEXT));
        p = run_put_text(p, run_text_of(fields[i].unit, RUN_MAX_TEXT));
    }
    run_publish(&run->meta);
    run->undeclared = true;
    return 0;
}

/* Completes a declaration and returns its result. Addresses need the modules. */
int run_declared(struct mpitx_run *run, int rc)
{
    if (rc < 0) return run_refuse(run, rc);
    if (run->addresses && !run->module_count) mpitx_run_modules(run);
    return rc;
}

int mpitx_run_declare_event(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields,
                            uint32_t count, uint32_t *bytes)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        struct run_fields_body body = {.id = run->event_count, .count = count};
        rc = body.id < RUN_MAX_EVENTS ? run_declare_fields(run, RUN_META_EVENT, &body, name, fields)
                                      : MPITX_RUN_INVALID;
        if (!rc) {
            if (bytes) *bytes = body.bytes;
            run->event_bytes[body.id] = body.bytes;
            rc = (int)body.id;
            atomic_store_explicit(&run->event_count, body.id + 1, memory_order_release);
        }
        run_unlock(run);
    }
    errno = saved;
    return run_declared(run, rc);
}

int mpitx_run_declare_text(struct mpitx_run *run, const char *text)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        struct run_text t = run_text_of(text, RUN_MAX_TEXT);
        rc = run_write_meta(run, RUN_META_TEXT, false, &run->text_count, sizeof run->text_count, &t, 1);
        if (!rc) {
            run->undeclared = true;
            rc = (int)run->text_count++;
        }
        run_unlock(run);
    }
    errno = saved;
    return rc < 0 ? run_refuse(run, rc) : rc;
}

/* ---- threads ---- */

static uint32_t thread_id(void) { return (uint32_t)syscall(SYS_gettid); }

int mpitx_run_thread_begin(struct mpitx_run *run)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    uint32_t n = atomic_load_explicit(&run->thread_count, memory_order_acquire);
    for (uint32_t i = 0; i < run->max_threads; i++) {
        struct run_thread *t = &run->threads[i];
        bool taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
        if (taken ||
            !atomic_compare_exchange_strong_explicit(&t->taken, &taken, true, memory_order_acquire,
                                                     memory_order_relaxed))
            continue;
        while (i >= n && !atomic_compare_exchange_weak(&run->thread_count, &n, i + 1)) ;
        t->tid = thread_id();
        t->announce = true;
        t->never_waits = false;
        return (int)i;
    }
    return run_refuse(run, MPITX_RUN_FULL);
}

void mpitx_run_thread_never_waits(struct mpitx_run *run, int thread)
{
    if (!run_off(run) && thread >= 0 && (uint32_t)thread < run->max_threads) run->threads[thread].never_waits = true;
}

void mpitx_run_thread_end(struct mpitx_run *run, int thread)
{
    if (!run_off(run) && thread >= 0 && (uint32_t)thread < run->max_threads)
        atomic_store_explicit(&run->threads[thread].taken, false, memory_order_release);
}

/* ---- events ---- */

static bool seal_declarations(struct mpitx_run *run, bool wait)
{
    bool ok = false;
    if (!run->undeclared) return true;
    if (wait ? run_try_lock_long(run) : run_try_lock_masked(run, 1)) {
        ok = run_seal_meta(run);
        run_unlock(run);
    }
    return ok;
}

static void put_word(struct run_thread *t, uint16_t tag, uint64_t word)
{
    struct run_record head = {2, tag, (uint32_t)(t->last_ticks - t->base_ticks)};
    uint8_t *p = (uint8_t *)(t->chunk + 1) + t->used;
    run_put(run_put(p, &head, sizeof head), &word, sizeof word);
    t->used += 16;
}

static bool next_chunk(struct mpitx_run *run, struct run_thread *t, uint64_t ticks)
{
    if (t->chunk) {
        if (!seal_declarations(run, !t->never_waits)) /* events must not be in the file before their declarations */
            return false;
        struct run_chunk *full = t->chunk;
        t->chunk = NULL;
        t->used = t->room = 0;
        run_pool_seal(run, full, t->last_ticks, t->records);
        run_wake_flusher(run, !t->never_waits);
    }
    uint16_t chain = (uint16_t)(t - run->threads + 1);
    struct run_chunk *c = run_within_budget(run, RUN_KIND_EVENTS)
                          ? run_pool_take(run, RUN_KIND_EVENTS, chain, !t->never_waits) : NULL;
    if (!c) return false;
    c->first_ticks = ticks;
    atomic_store_explicit((_Atomic uint32_t *)&c->state, RUN_SLOT_OPEN, memory_order_release);
    t->chunk = c;
    t->chunks++;
    t->room = c->capacity;
    t->records = 0;
    t->base_ticks = ticks;
    t->announce = true;
    return true;
}

/* Makes room for an event and writes the records that precede it. */
static bool prepare(struct mpitx_run *run, struct run_thread *t, uint64_t ticks, uint32_t bytes)
{
    int saved = errno;
    bool ok = (t->chunk && t->used + bytes + 3 * 16 <= t->room) || next_chunk(run, t, ticks);
    errno = saved;
    if (!ok) {
        t->lost++;
        t->lost_ticks = ticks;
        run_count(run, RUN_LOST_EVENTS, 1);
        return false;
    }
    t->last_ticks = ticks;
    if (ticks - t->base_ticks > UINT32_MAX) {
        t->base_ticks = ticks;
        put_word(t, RUN_TAG_BASE, ticks);
    }
    if (t->announce) put_word(t, RUN_TAG_THREAD, t->tid);
    if (t->lost) put_word(t, RUN_TAG_LOST, t->lost);
    t->announce = false;
    t->lost = 0;
    return true;
}

static inline void append(struct run_thread *t, int type, uint64_t ticks, const void *fields, uint32_t body)
{
    uint8_t *p = (uint8_t *)(t->chunk + 1) + t->used;
    uint32_t bytes = body + (uint32_t)sizeof(struct run_record);
    struct run_record head =
        {(uint16_t)(bytes / 8), (uint16_t)(RUN_TAG_SET + (uint32_t)type), (uint32_t)(ticks - t->base_ticks)};
    memcpy(p, &head, sizeof head);
    for (uint32_t i = 0; i < body; i += 8) memcpy(p + sizeof head + i, (const uint8_t *)fields + i, 8);
    __builtin_prefetch(p + PREFETCH_AHEAD, 1);
    t->used += bytes;
    t->records++;
    t->last_ticks = ticks;
    atomic_store_explicit((_Atomic uint32_t *)&t->chunk->used, t->used, memory_order_release);
}

/* Whether an event needs records that precede it. */
static inline bool preceded(const struct run_thread *t, uint64_t ticks)
{
    return ticks - t->base_ticks > UINT32_MAX || t->announce || t->lost;
}

int mpitx_run_event(struct mpitx_run *run, int thread, int type, uint64_t ticks, const void *fields)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    if ((uint32_t)thread >= run->max_threads ||
        (uint32_t)type >= atomic_load_explicit(&run->event_count, memory_order_relaxed)) {
        run_count(run, RUN_LOST_EVENTS, 1);
        return MPITX_RUN_INVALID;
    }
    struct run_thread *t = &run->threads[thread];
    uint32_t body = run->event_bytes[type], bytes = body + (uint32_t)sizeof(struct run_record);
    if (ticks < t->last_ticks) ticks = t->last_ticks;
    if ((t->used + bytes > t->room || preceded(t, ticks)) && !prepare(run, t, ticks, bytes)) return MPITX_RUN_FULL;
    append(t, type, ticks, fields, body);
    return 0;
}

uint32_t mpitx_run_chunk(const struct mpitx_run *run, int thread)
{
    const struct run_thread *t = &run->threads[thread];
    return t->chunk ? t->chunks : 0;
}

int mpitx_run_event_in(struct mpitx_run *run, int thread, int type, uint64_t ticks, const void *fields, uint32_t chunk)
{
    struct run_thread *t = &run->threads[thread];
    uint32_t body = run->event_bytes[type];
    if (run_off(run) || t->chunks != chunk || t->used + body + sizeof(struct run_record) > t->room ||
        ticks < t->last_ticks || preceded(t, ticks))
        return MPITX_RUN_FULL;
    append(t, type, ticks, fields, body);
    return 0;
}

/* Losses that no event of the chain follows. */
void run_write_losses(struct mpitx_run *run)
{
    for (uint32_t i = 0; i < run->thread_count; i++) {
        const struct run_thread *t = &run->threads[i];
        struct run_loss_body body = {i + 1, t->tid, t->lost, t->lost_ticks};
        if (t->lost) run_write_meta(run, RUN_META_LOSS, false, &body, sizeof body, NULL, 0);
    }
}

/* If the process aborts, threads may still be in a call, so their state is not changed. */
void run_seal_events(struct mpitx_run *run)
{
    for (uint32_t i = 0; i < run->thread_count; i++)
        if (run->threads[i].chunk)
            run_pool_seal(run, run->threads[i].chunk, run->threads[i].last_ticks, run->threads[i].records);
}
