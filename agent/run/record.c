/* record.c: chunks that are filled under the lock, and the records of declarations, notes and clocks. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>

bool run_has_slot(const struct mpitx_run *run, uint32_t state)
{
    for (uint32_t i = 0; i < run->live->chunks; i++)
        if (atomic_load_explicit((_Atomic uint32_t *)&run_slot(run, i)->state, memory_order_acquire) == state)
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
    if (needed) return false;
    run_begin_chunk(run, found, kind, 0);
    *cursor = (struct run_cursor){.chunk = found, .room = max < found->capacity ? max & ~7u : found->capacity};
    found->first_ticks = kind == RUN_KIND_META ? run->ticks() : 0;
    atomic_store_explicit((_Atomic uint32_t *)&found->state, RUN_SLOT_OPEN, memory_order_release);
    return true;
}

void run_seal_chunk(struct mpitx_run *run, struct run_cursor *cursor)
{
    struct run_chunk *c = cursor->chunk;
    if (cursor->used) {
        c->last_ticks = c->kind == RUN_KIND_META ? run->ticks() : run->last_ticks;
        c->records = cursor->records;
        if (!run_in_ring(run, c->kind)) run->written += sizeof *c + cursor->used;
    }
    atomic_store_explicit((_Atomic uint32_t *)&c->state, cursor->used ? RUN_SLOT_SEALED : RUN_SLOT_FREE,
                          memory_order_release);
    *cursor = (struct run_cursor){0};
    run_flush(run);
}

/* ---- records ---- */

/* Reserves a meta record with a body of the given size, zero-padded; commit it with run_publish(&run->meta). Only
 * records that end a run may use the reserve (essential). */
uint8_t *run_meta_begin(struct mpitx_run *run, int type, size_t body, bool essential)
{
    uint64_t bytes = pad8(sizeof(struct run_meta) + body);
    uint32_t reserve = essential ? 0 : RUN_META_RESERVE;
    struct run_cursor *c = &run->meta;
    if (bytes + RUN_META_RESERVE + sizeof(struct run_chunk) > run->live->chunk_bytes) return NULL;
    if (!essential && run->share && run->written > run->share + run->live->chunk_bytes) return NULL;
    if (!c->chunk || c->used + bytes + reserve > c->room) {
        if (c->chunk) {
            if (!run_has_slot(run, RUN_SLOT_FREE)) /* the reserve is for the records that end the run */
                return NULL;
            run_seal_chunk(run, c);
        }
        if (!run_take_chunk(run, c, RUN_KIND_META, UINT32_MAX)) return NULL;
    }
    uint8_t *at = (uint8_t *)(c->chunk + 1) + c->used;
    uint64_t now = run->ticks();
    memset(at + bytes - 8, 0, 8);
    struct run_meta head = {.bytes = (uint32_t)bytes, .type = (uint16_t)type, .ticks = now};
    memcpy(at, &head, sizeof head);
    c->used += (uint32_t)bytes;
    return at + sizeof head;
}

int run_refuse(struct mpitx_run *run, int error)
{
    run_count(run, RUN_REFUSED, 1);
    return error;
}

/* Writes a record of fixed words and texts, as most records are. */
int run_write_meta(struct mpitx_run *run, int type, bool essential, const void *fixed, size_t fixed_bytes,
                      const struct run_text *texts, int text_count)
{
    size_t body = fixed_bytes;
    for (int i = 0; i < text_count; i++) body += 4 + texts[i].n;
    uint8_t *p = run_meta_begin(run, type, body, essential);
    if (!p) return MPITX_RUN_FULL;
    p = run_put(p, fixed, fixed_bytes);
    for (int i = 0; i < text_count; i++) p = run_put_text(p, texts[i]);
    run_publish(&run->meta);
    return 0;
}

void run_write_counters(struct mpitx_run *run)
{
    uint64_t counters[1 + RUN_COUNTERS] = {RUN_COUNTERS};
    memcpy(counters + 1, run->live->counter, sizeof run->live->counter);
    run_write_meta(run, RUN_META_COUNTERS, true, counters, sizeof counters, NULL, 0);
}

bool run_seal_meta(struct mpitx_run *run)
{
    if (!run->meta.chunk) return true;
    if (!run_has_slot(run, RUN_SLOT_FREE)) return false;
    run_write_counters(run);
    run->undeclared = false;
    run_seal_chunk(run, &run->meta);
    return true;
}

void run_note_budget(struct mpitx_run *run)
{
    int32_t fixed[2] = {MPITX_RUN_WARNING, MPITX_RUN_NOTE_BUDGET};
    struct run_text t =
        run_text_of("the size budget (--max-size) is used up: from now on only the number of samples and events is "
                    "recorded", RUN_MAX_TEXT);
    run_write_meta(run, RUN_META_NOTE, true, fixed, sizeof fixed, &t, 1);
    run->budget_noted = true;
}

bool run_within_budget(struct mpitx_run *run, int kind)
{
    uint64_t need = run->live->chunk_bytes + RUN_META_RESERVE + run->tail_needed;
    if (!run->share || run_in_ring(run, kind) || run->written + need <= run->share) return true;
    if (!run->budget_noted && run_try_lock(run)) {
        if (!run->budget_noted) run_note_budget(run);
        run_unlock(run);
    }
    return false;
}

static int locked_meta(struct mpitx_run *run, int type, const void *fixed, size_t fixed_bytes,
                       const struct run_text *texts, int text_count)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc;
    if (!run_try_lock_long(run)) {
        rc = run_refuse(run, MPITX_RUN_BUSY);
    } else {
        rc = run_write_meta(run, type, false, fixed, fixed_bytes, texts, text_count);
        run_unlock(run);
        if (rc) run_refuse(run, rc);
    }
    errno = saved;
    return rc;
}

int mpitx_run_note(struct mpitx_run *run, int severity, int code, const char *text)
{
    int32_t fixed[2] = {severity, code};
    struct run_text t = run_text_of(text, RUN_MAX_TEXT);
    return locked_meta(run, RUN_META_NOTE, fixed, sizeof fixed, &t, 1);
}

int mpitx_run_column_status(struct mpitx_run *run, uint32_t column, int status, const char *reason)
{
    uint32_t fixed[2] = {column, (uint32_t)status};
    struct run_text t = run_text_of(reason, RUN_MAX_TEXT);
    return locked_meta(run, RUN_META_STATUS, fixed, sizeof fixed, &t, 1);
}

int mpitx_run_object_name(struct mpitx_run *run, uint64_t object, const char *name)
{
    struct run_text t = run_text_of(name, RUN_MAX_TEXT);
    return locked_meta(run, RUN_META_OBJECT, &object, sizeof object, &t, 1);
}

/* Drops the record silently if there is no room: a run is complete without it. */
int mpitx_run_functions(struct mpitx_run *run, const struct mpitx_run_function *functions, uint32_t count)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    uint32_t fixed[2] = {count, 2}; /* number of figures of each */
    size_t bytes = sizeof fixed;
    for (uint32_t i = 0; i < count; i++) bytes += 16 + 4 + run_text_of(functions[i].name, RUN_MAX_TEXT).n;
    if (run_try_lock_long(run)) {
        uint8_t *p = run_meta_begin(run, RUN_META_FUNCTIONS, bytes, false);
        rc = p ? 0 : MPITX_RUN_FULL;
        if (p) p = run_put(p, fixed, sizeof fixed);
        for (uint32_t i = 0; p && i < count; i++) {
            uint64_t figures[2] = {functions[i].calls, functions[i].time_ns};
            p = run_put_text(run_put(p, figures, sizeof figures), run_text_of(functions[i].name, RUN_MAX_TEXT));
        }
        if (p) run_publish(&run->meta);
        run_unlock(run);
    }
    errno = saved;
    return rc;
}

int mpitx_run_outcome(struct mpitx_run *run, int after, const char *cvar, const char *asked, const char *old_value,
                      const char *read_back, const char *result)
{
    int32_t fixed[2] = {after, 0};
    struct run_text t[5] = {run_text_of(cvar, RUN_MAX_TEXT), run_text_of(asked, RUN_MAX_TEXT),
                            run_text_of(old_value, RUN_MAX_TEXT), run_text_of(read_back, RUN_MAX_TEXT),
                            run_text_of(result, RUN_MAX_TEXT)};
    return locked_meta(run, RUN_META_OUTCOME, fixed, sizeof fixed, t, 5);
}

/* ---- clocks ---- */

int run_write_clock(struct mpitx_run *run, bool essential)
{
    struct run_clock_body body;
    uint64_t at = run_read_clocks(run, &body);
    uint8_t *p = run_meta_begin(run, RUN_META_CLOCK, sizeof body, essential);
    if (!p) return MPITX_RUN_FULL;
    memcpy(p - 8, &at, 8);
    memcpy(p, &body, sizeof body);
    run_publish(&run->meta);
    return 0;
}

int mpitx_run_clock_pair(struct mpitx_run *run)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        rc = run_write_clock(run, false);
        run_unlock(run);
    }
    if (rc) run_refuse(run, rc);
    errno = saved;
    return rc;
}
