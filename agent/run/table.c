/* table.c: tables. A row never moves, and its owner changes it in place. Chunks are appended once, at the end. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CACHE_LINE 64u /* rows of two threads never share one */

int mpitx_run_declare_table(struct mpitx_run *run, const char *name, const struct mpitx_run_field *fields,
                            uint32_t count, uint32_t keys, uint32_t *bytes)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        struct run_fields_body body =
            {.id = run->table_count, .count = count, .keys = keys, .bytes = sizeof(struct mpitx_run_row)};
        rc = body.id < RUN_MAX_TABLES && keys <= count ? run_declare_fields(run, RUN_META_TABLE, &body, name, fields)
                                                       : MPITX_RUN_INVALID;
        if (!rc) {
            struct run_table *t = &run->tables[body.id];
            uint32_t row = (body.bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
            t->used = body.bytes;
            t->row_bytes = row;
            for (uint32_t i = 0; i < count; i++) t->addresses |= fields[i].meaning == MPITX_RUN_ADDRESS;
            t->fit = (run->live->chunk_bytes - (uint32_t)(sizeof(struct run_chunk) +
                                                          sizeof(struct run_table_head))) / row;
            if (bytes) *bytes = body.bytes;
            rc = (int)body.id;
            atomic_store_explicit(&run->table_count, body.id + 1, memory_order_release);
        }
        run_unlock(run);
    }
    errno = saved;
    return run_declared(run, rc);
}

/* Adds a chunk to a table with the given number of parts. Returns true if this or another thread added one. */
static bool grow(struct mpitx_run *run, struct run_table *t, uint32_t parts)
{
    bool allowed = parts < RUN_MAX_PARTS && run_within_budget(run, RUN_KIND_TABLE);
    struct run_chunk *c = allowed ? run_pool_take(run, RUN_KIND_TABLE, 0, true) : NULL;
    if (!c) return false;
    memset(c + 1, 0, c->capacity);
    struct run_table_head head = {.table = (uint32_t)(t - run->tables), .row_bytes = t->row_bytes};
    memcpy(c + 1, &head, sizeof head);
    c->first_ticks = run->ticks();
    bool ok = run_try_lock_long(run);
    if (ok && t->parts == parts) {
        c->used = (uint32_t)sizeof head + t->fit * t->row_bytes;
        atomic_store_explicit((_Atomic uint32_t *)&c->state, RUN_SLOT_OPEN, memory_order_release);
        t->part[parts] = c;
        atomic_store_explicit(&t->parts, parts + 1, memory_order_release);
        c = NULL;
    }
    if (ok) run_unlock(run);
    if (c) run_pool_seal(run, c, 0, 0);
    return ok;
}

static struct mpitx_run_row *row_at(const struct run_table *t, uint32_t i)
{
    return (struct mpitx_run_row *)(void *)((char *)(t->part[i / t->fit] + 1) + sizeof(struct run_table_head) +
                                            (size_t)(i % t->fit) * t->row_bytes);
}

struct mpitx_run_row *mpitx_run_row(struct mpitx_run *run, int table, const void *values)
{
    if (run_off(run) || (uint32_t)table >= run->table_count) return NULL;
    struct run_table *t = &run->tables[table];
    int saved = errno;
    if (t->addresses) mpitx_run_follow_modules(run);
    uint32_t i = atomic_load_explicit(&t->next, memory_order_relaxed), parts;
    do {
        while (i >= (parts = atomic_load_explicit(&t->parts, memory_order_acquire)) * t->fit)
            if (!grow(run, t, parts)) {
                run_count(run, RUN_LOST_ROWS, 1);
                errno = saved;
                return NULL;
            }
    } while (!atomic_compare_exchange_weak_explicit(&t->next, &i, i + 1, memory_order_relaxed, memory_order_relaxed));
    struct mpitx_run_row *row = row_at(t, i);
    memcpy(row + 1, (const struct mpitx_run_row *)values + 1, t->used - sizeof *row);
    row->thread = (uint32_t)syscall(SYS_gettid);
    atomic_store_explicit((_Atomic uint32_t *)&row->sequence, 2, memory_order_release);
    errno = saved;
    return row;
}

void run_seal_tables(struct mpitx_run *run)
{
    for (uint32_t k = 0; k < run->table_count; k++) {
        struct run_table *t = &run->tables[k];
        for (uint32_t p = 0, left = t->next; p < t->parts; p++) {
            uint32_t n = left < t->fit ? left : t->fit;
            struct run_chunk *c = t->part[p];
            c->used = (uint32_t)sizeof(struct run_table_head) + n * t->row_bytes;
            run_pool_seal(run, c, run->ticks(), n);
            left -= n;
        }
    }
}
