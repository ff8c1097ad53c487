/* sample.c: samples. */
#define _GNU_SOURCE
#include "run/internal.h"

#define MAX_PREFETCH 512

/* Also keeps the first sample of a set in a meta chunk, where it survives when samples are overwritten or dropped. */
static void write_baseline(struct mpitx_run *run, struct run_set *s, uint32_t set, uint64_t ticks, const void *row,
                           const uint8_t *statuses)
{
    size_t status_bytes = statuses ? pad8(s->columns) : 0;
    uint8_t *p = run_meta_begin(run, RUN_META_BASELINE, 8 + status_bytes + s->row_bytes, false);
    if (!p) return;
    uint32_t fixed[2] = {set, statuses ? 1 : 0};
    memcpy(p - 8, &ticks, 8);
    p = run_put(p, fixed, sizeof fixed);
    if (statuses) {
        memset(p + status_bytes - 8, 0, 8);
        memcpy(p, statuses, s->columns);
    }
    memcpy(p + status_bytes, row, s->row_bytes);
    run_publish(&run->meta);
    s->baseline = true;
}

/* Makes room for a sample of the given size and a time base before it. */
static bool next_chunk(struct mpitx_run *run, uint64_t ticks, size_t need)
{
    struct run_cursor *c = &run->samples;
    uint32_t max = UINT32_MAX;
    if (c->chunk) {
        if (!run_seal_meta(run)) { /* samples must not be in the file before their declarations */
            run_count(run, RUN_LOST_FULL, 1);
            return false;
        }
        run_seal_chunk(run, c);
    }
    if (run->share && run->policy == MPITX_RUN_STOP) {
        uint64_t left = run->share > run->written ? run->share - run->written : 0;
        uint64_t head = sizeof(struct run_chunk) + run->meta.used + sizeof(struct run_chunk) + RUN_META_RESERVE +
                        run->tail_needed;
        if (left < head + need) {
            if (!run->budget_noted) run_note_budget(run);
            run_count(run, RUN_OVER_BUDGET, 1);
            run_count(run, RUN_OVER_BYTES, need);
            return false;
        }
        max = left - head > UINT32_MAX ? UINT32_MAX : (uint32_t)(left - head);
    }
    if (!run_take_chunk(run, c, RUN_KIND_SAMPLES, max)) {
        run_count(run, RUN_LOST_FULL, 1);
        return false;
    }
    c->chunk->first_ticks = run->base_ticks = ticks;
    return c->used + need <= c->room;
}

static bool all_ok(const uint8_t *statuses, uint32_t n)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < n; i++) any |= statuses[i];
    return !any;
}

static int write_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses)
{
    struct run_set *s = &run->sets[set];
    struct run_cursor *c = &run->samples;
    if (statuses && all_ok(statuses, s->columns)) statuses = NULL;
    size_t status_bytes = statuses ? pad8(s->columns) : 0;
    size_t bytes = sizeof(struct run_record) + status_bytes + s->row_bytes;
    if (ticks < run->last_ticks) ticks = run->last_ticks;
    if (!s->baseline) write_baseline(run, s, set, ticks, row, statuses);
    if (!c->chunk || c->used + bytes + 16 > c->room) {
        if (!next_chunk(run, ticks, bytes + 16)) {
            run_last_keep(s, ticks, row, statuses);
            run->last_ticks = ticks;
            return MPITX_RUN_FULL;
        }
    }
    uint8_t *p = (uint8_t *)(c->chunk + 1) + c->used;
    if (ticks - run->base_ticks > UINT32_MAX) {
        struct run_record base = {2, RUN_TAG_BASE, 0};
        p = run_put(run_put(p, &base, sizeof base), &ticks, 8);
        c->used += 16;
        c->records++;
        run->base_ticks = ticks;
    }
    struct run_record head =
        {(uint16_t)(bytes / 8), (uint16_t)(RUN_TAG_SET + set), (uint32_t)(ticks - run->base_ticks)};
    if (statuses) {
        head.tag |= RUN_TAG_STATUSES;
        memset(p + sizeof head + status_bytes - 8, 0, 8);
        memcpy(p + sizeof head, statuses, s->columns);
    }
    memcpy(p, &head, sizeof head);
    memcpy(p + sizeof head + status_bytes, row, s->row_bytes);
    c->used += (uint32_t)bytes;
    for (size_t line = 0; line < bytes && line < MAX_PREFETCH; line += 64)
        __builtin_prefetch(p + bytes + line, 1); /* the next record, which is not in the cache */
    run->last_ticks = ticks;
    s->dropped = false;
    run_publish(c);
    run->live->counter[RUN_SAMPLES]++;
    return 0;
}

int mpitx_run_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    if (!run_try_lock(run)) {
        run_count(run, RUN_LOST_BUSY, 1);
        return MPITX_RUN_BUSY;
    }
    int rc = set < run->set_count ? write_sample(run, set, ticks, row, statuses) : MPITX_RUN_INVALID;
    run_unlock(run);
    return rc;
}
