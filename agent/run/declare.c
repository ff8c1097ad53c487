/* declare.c: declares columns and sets. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>

#include "binding/shim/mpitx.h"

static uint32_t element_bytes(const struct mpitx_run_column *column)
{
    uint32_t size = (uint32_t)mpitx_type_size(column->datatype);
    if (size) return size;
    size = column->element_bytes;
    return size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
}

static int write_column(struct mpitx_run *run, const struct mpitx_run_column *c, uint32_t size)
{
    bool listed = c->labels == MPITX_RUN_LABEL_WORLD_LIST && c->label;
    struct run_column_body body = {
        .id = run->column_count, .var_class = c->var_class, .datatype = c->datatype, .count = c->count,
              .first = c->first,
        .bind = c->bind, .object = c->object, .as = c->as, .enum_flags = c->enum_flags, .element_bytes = (uint8_t)size,
        .labels = c->labels == MPITX_RUN_LABEL_WORLD_LIST && !listed ? MPITX_RUN_LABEL_INDEX : c->labels,
        .label_count = listed ? c->count : 0, .item_count = c->items ? c->item_count : 0,
    };
    struct run_text t[5] = {run_text_of(c->variable, RUN_MAX_TEXT), run_text_of(c->object_name, RUN_MAX_TEXT),
                            run_text_of(c->enum_name, RUN_MAX_TEXT), run_text_of(c->description, RUN_MAX_TEXT),
                            run_text_of(c->unit, RUN_MAX_TEXT)};
    size_t bytes = sizeof body + (size_t)body.label_count * 4;
    for (int i = 0; i < 5; i++) bytes += 4 + t[i].n;
    for (uint32_t i = 0; i < body.item_count; i++) bytes += 12 + run_text_of(c->items[i].name, RUN_MAX_TEXT).n;
    uint8_t *p = run_meta_begin(run, RUN_META_COLUMN, bytes, false);
    if (!p) return MPITX_RUN_FULL;
    p = run_put(p, &body, sizeof body);
    for (int i = 0; i < 4; i++) p = run_put_text(p, t[i]);
    p = run_put(p, c->label, (size_t)body.label_count * 4);
    for (uint32_t i = 0; i < body.item_count; i++)
        p = run_put_text(run_put(p, &c->items[i].value, 8), run_text_of(c->items[i].name, RUN_MAX_TEXT));
    run_put_text(p, t[4]);
    run_publish(&run->meta);
    return 0;
}

int mpitx_run_declare_column(struct mpitx_run *run, const struct mpitx_run_column *column)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    uint32_t size = element_bytes(column);
    if (!size || !column->count || column->count > run->live->chunk_bytes / size || column->item_count > 65536)
        return run_refuse(run, MPITX_RUN_INVALID);
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        rc = run->column_count == run->max_columns ? MPITX_RUN_INVALID : write_column(run, column, size);
        if (!rc) {
            rc = (int)run->column_count++;
            run->columns[rc] = (struct run_column_info){size * column->count, size};
        }
        run_unlock(run);
    }
    errno = saved;
    return rc < 0 ? run_refuse(run, rc) : rc;
}

static int write_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets,
                     uint32_t *row_bytes)
{
    uint64_t at = 0;
    if (run->set_count == run->max_sets || !count || count > run->live->chunk_bytes / 4) return MPITX_RUN_INVALID;
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] >= run->column_count) return MPITX_RUN_INVALID;
        const struct run_column_info *c = &run->columns[columns[i]];
        at = (at + c->element_bytes - 1) / c->element_bytes * c->element_bytes;
        if (offsets) offsets[i] = (uint32_t)at;
        at += c->bytes;
    }
    at = pad8(at);
    /* Its baseline, the longest record of a set, must fit a meta chunk. */
    uint64_t record = sizeof(struct run_meta) + 8 + pad8(count) + at;
    if (record + RUN_META_RESERVE + sizeof(struct run_chunk) > run->live->chunk_bytes ||
        record > UINT64_C(8) * UINT16_MAX)
        return MPITX_RUN_INVALID;
    uint8_t *p = run_meta_begin(run, RUN_META_SET, 16 + (size_t)count * 4, false);
    if (!p) return MPITX_RUN_FULL;
    uint32_t fixed[4] = {run->set_count, count, (uint32_t)at, 0};
    run_put(run_put(p, fixed, sizeof fixed), columns, (size_t)count * 4);
    run_publish(&run->meta);
    struct run_set *set = &run->sets[run->set_count];
    *set = (struct run_set){.row_bytes = (uint32_t)at, .columns = count};
    if (!run_last_reserve(run, set, run->set_count)) run_count(run, RUN_REFUSED, 1);
    if (row_bytes) *row_bytes = (uint32_t)at;
    return (int)run->set_count++;
}

int mpitx_run_declare_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets,
                          uint32_t *row_bytes)
{
    if (run_off(run)) return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        rc = write_set(run, columns, count, offsets, row_bytes);
        run_unlock(run);
    }
    errno = saved;
    return rc < 0 ? run_refuse(run, rc) : rc;
}
