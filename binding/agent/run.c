/* run.c: the records of a run. Chunks and files are run_store.c's. */
#define _GNU_SOURCE
#include "run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../shim/mpitx.h"

#define MOST_TEXT 4096
#define MOST_LIBRARY_TEXT 8192 /* MPI_MAX_LIBRARY_VERSION_STRING */
#define SPINS 400              /* some 20 us */

_Static_assert(sizeof(long) == 8 && sizeof(void *) == 8, "sizes of datatypes are those of LP64, here and in catalog/types.go");

size_t mpitx_run_type_size(int datatype)
{
    static const unsigned char sizes[MPITX_TYPE_LAST + 1] = {
        [MPITX_TYPE_INT] = 4, [MPITX_TYPE_UNSIGNED] = 4, [MPITX_TYPE_UNSIGNED_LONG] = 8,
        [MPITX_TYPE_UNSIGNED_LONG_LONG] = 8, [MPITX_TYPE_COUNT] = 8, [MPITX_TYPE_CHAR] = 1, [MPITX_TYPE_DOUBLE] = 8,
        [MPITX_TYPE_INT32_T] = 4, [MPITX_TYPE_INT64_T] = 8, [MPITX_TYPE_UINT32_T] = 4, [MPITX_TYPE_UINT64_T] = 8,
        [MPITX_TYPE_C_BOOL] = 1, [MPITX_TYPE_LONG] = 8, [MPITX_TYPE_LONG_LONG] = 8, [MPITX_TYPE_SHORT] = 2,
        [MPITX_TYPE_UNSIGNED_SHORT] = 2, [MPITX_TYPE_SIGNED_CHAR] = 1, [MPITX_TYPE_UNSIGNED_CHAR] = 1,
        [MPITX_TYPE_FLOAT] = 4, [MPITX_TYPE_INT8_T] = 1, [MPITX_TYPE_INT16_T] = 2, [MPITX_TYPE_UINT8_T] = 1,
        [MPITX_TYPE_UINT16_T] = 2, [MPITX_TYPE_AINT] = 8, [MPITX_TYPE_OFFSET] = 8, [MPITX_TYPE_BYTE] = 1,
    };
    return datatype < 1 || datatype > MPITX_TYPE_LAST ? 0 : sizes[datatype];
}

/* -- the lock -- */

static inline void pause_cpu(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static inline bool try_lock(struct mpitx_run *run)
{
    for (int i = 0; i < SPINS; i++) {
        if (!atomic_flag_test_and_set_explicit(&run->lock, memory_order_acquire))
            return true;
        pause_cpu();
    }
    return false;
}

/* For what is rare and must not be lost easily: gives the holder time to run. */
static bool try_lock_long(struct mpitx_run *run)
{
    for (int i = 0; i < 100; i++) {
        if (try_lock(run))
            return true;
        sched_yield();
    }
    return false;
}

static inline void unlock(struct mpitx_run *run) { atomic_flag_clear_explicit(&run->lock, memory_order_release); }

/* -- meta records -- */

struct text {
    const char *s;
    uint32_t n;
};

static struct text text_of(const char *s, size_t most) { return (struct text){s ? s : "", s ? (uint32_t)strnlen(s, most) : 0}; }

static uint8_t *put(uint8_t *p, const void *from, size_t n)
{
    if (n)
        memcpy(p, from, n);
    return p + n;
}

static uint8_t *put_text(uint8_t *p, struct text t) { return put(put(p, &t.n, 4), t.s, t.n); }

static inline void publish(struct run_cursor *c)
{
    c->records++;
    atomic_store_explicit((_Atomic uint32_t *)&c->chunk->used, c->used, memory_order_release);
}

/* Room for a meta record with a body of so many bytes, zeroed at its end; commit with publish(&run->meta). The records that
 * end a run may use the reserve. */
static uint8_t *meta_begin(struct mpitx_run *run, int type, size_t body, bool essential)
{
    uint64_t bytes = pad8(sizeof(struct run_meta) + body);
    uint32_t reserve = essential ? 0 : RUN_META_RESERVE;
    struct run_cursor *c = &run->meta;
    if (bytes + RUN_META_RESERVE + sizeof(struct run_chunk) > run->live->chunk_bytes)
        return NULL;
    if (!essential && run->share && run->written > run->share + run->live->chunk_bytes)
        return NULL;
    if (!c->chunk || c->used + bytes + reserve > c->room) {
        if (c->chunk)
            run_seal_chunk(run, c);
        if (!run_take_chunk(run, c, RUN_KIND_META, UINT32_MAX))
            return NULL;
    }
    uint8_t *at = (uint8_t *)(c->chunk + 1) + c->used;
    uint64_t now = run->ticks();
    memset(at + bytes - 8, 0, 8);
    struct run_meta head = {.bytes = (uint32_t)bytes, .type = (uint16_t)type, .ticks = now};
    memcpy(at, &head, sizeof head);
    c->used += (uint32_t)bytes;
    return at + sizeof head;
}

static int refuse(struct mpitx_run *run, int error)
{
    run_count(run, RUN_REFUSED, 1);
    return error;
}

/* Fixed words and texts as one record: most of them are no more than that. */
static int write_meta(struct mpitx_run *run, int type, bool essential, const void *fixed, size_t fixed_bytes,
                      const struct text *texts, int text_count)
{
    size_t body = fixed_bytes;
    for (int i = 0; i < text_count; i++)
        body += 4 + texts[i].n;
    uint8_t *p = meta_begin(run, type, body, essential);
    if (!p)
        return MPITX_RUN_FULL;
    p = put(p, fixed, fixed_bytes);
    for (int i = 0; i < text_count; i++)
        p = put_text(p, texts[i]);
    publish(&run->meta);
    return 0;
}

static int locked_meta(struct mpitx_run *run, int type, const void *fixed, size_t fixed_bytes, const struct text *texts,
                       int text_count)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc;
    if (!try_lock_long(run)) {
        rc = refuse(run, MPITX_RUN_BUSY);
    } else {
        rc = write_meta(run, type, false, fixed, fixed_bytes, texts, text_count);
        unlock(run);
        if (rc)
            refuse(run, rc);
    }
    errno = saved;
    return rc;
}

int mpitx_run_note(struct mpitx_run *run, int severity, int code, const char *text)
{
    int32_t fixed[2] = {severity, code};
    struct text t = text_of(text, MOST_TEXT);
    return locked_meta(run, RUN_META_NOTE, fixed, sizeof fixed, &t, 1);
}

int mpitx_run_column_status(struct mpitx_run *run, uint32_t column, int status, const char *reason)
{
    uint32_t fixed[2] = {column, (uint32_t)status};
    struct text t = text_of(reason, MOST_TEXT);
    return locked_meta(run, RUN_META_STATUS, fixed, sizeof fixed, &t, 1);
}

int mpitx_run_object_name(struct mpitx_run *run, uint64_t object, const char *name)
{
    struct text t = text_of(name, MOST_TEXT);
    return locked_meta(run, RUN_META_OBJECT, &object, sizeof object, &t, 1);
}

int mpitx_run_outcome(struct mpitx_run *run, int after, const char *cvar, const char *asked, const char *old_value,
                      const char *read_back, const char *result)
{
    int32_t fixed[2] = {after, 0};
    struct text t[5] = {text_of(cvar, MOST_TEXT), text_of(asked, MOST_TEXT), text_of(old_value, MOST_TEXT),
                        text_of(read_back, MOST_TEXT), text_of(result, MOST_TEXT)};
    return locked_meta(run, RUN_META_OUTCOME, fixed, sizeof fixed, t, 5);
}

/* -- clocks -- */

static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t run_monotonic(void) { return (uint64_t)clock_ns(CLOCK_MONOTONIC); }

/* The tightest of five readings of all clocks. */
static uint64_t read_clocks(const struct mpitx_run *run, struct run_clock_body *best)
{
    uint64_t at = 0, width = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t t0 = run->ticks();
        int64_t m0 = clock_ns(CLOCK_MONOTONIC), real = clock_ns(CLOCK_REALTIME), m1 = clock_ns(CLOCK_MONOTONIC);
        uint64_t t1 = run->ticks();
        if (t1 - t0 >= width)
            continue;
        width = t1 - t0;
        int64_t mono = m0 + (m1 - m0) / 2;
        at = run->clock == MPITX_RUN_CLOCK_MONOTONIC ? (uint64_t)mono : t0 + width / 2;
        *best = (struct run_clock_body){mono, real, (double)width * run->ns_per_tick / 2};
    }
    return at;
}

static int write_clock(struct mpitx_run *run, bool essential)
{
    struct run_clock_body body;
    uint64_t at = read_clocks(run, &body);
    uint8_t *p = meta_begin(run, RUN_META_CLOCK, sizeof body, essential);
    if (!p)
        return MPITX_RUN_FULL;
    memcpy(p - 8, &at, 8);
    memcpy(p, &body, sizeof body);
    publish(&run->meta);
    return 0;
}

int mpitx_run_clock_pair(struct mpitx_run *run)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (try_lock_long(run)) {
        rc = write_clock(run, false);
        unlock(run);
    }
    if (rc)
        refuse(run, rc);
    errno = saved;
    return rc;
}

/* -- declarations -- */

static uint32_t element_bytes(const struct mpitx_run_column *column)
{
    uint32_t size = (uint32_t)mpitx_run_type_size(column->datatype);
    if (size)
        return size;
    size = column->element_bytes;
    return size == 1 || size == 2 || size == 4 || size == 8 ? size : 0;
}

static int write_column(struct mpitx_run *run, const struct mpitx_run_column *c, uint32_t size)
{
    bool listed = c->labels == MPITX_RUN_LABEL_WORLD_LIST && c->label;
    struct run_column_body body = {
        .id = run->column_count, .var_class = c->var_class, .datatype = c->datatype, .count = c->count, .first = c->first,
        .bind = c->bind, .object = c->object, .as = c->as, .enum_flags = c->enum_flags, .element_bytes = (uint8_t)size,
        .labels = c->labels == MPITX_RUN_LABEL_WORLD_LIST && !listed ? MPITX_RUN_LABEL_INDEX : c->labels,
        .label_count = listed ? c->count : 0, .item_count = c->items ? c->item_count : 0,
    };
    struct text t[4] = {text_of(c->variable, MOST_TEXT), text_of(c->object_name, MOST_TEXT), text_of(c->enum_name, MOST_TEXT),
                        text_of(c->description, MOST_TEXT)};
    size_t bytes = sizeof body + (size_t)body.label_count * 4;
    for (int i = 0; i < 4; i++)
        bytes += 4 + t[i].n;
    for (uint32_t i = 0; i < body.item_count; i++)
        bytes += 12 + text_of(c->items[i].name, MOST_TEXT).n;
    uint8_t *p = meta_begin(run, RUN_META_COLUMN, bytes, false);
    if (!p)
        return MPITX_RUN_FULL;
    p = put(p, &body, sizeof body);
    for (int i = 0; i < 4; i++)
        p = put_text(p, t[i]);
    p = put(p, c->label, (size_t)body.label_count * 4);
    for (uint32_t i = 0; i < body.item_count; i++)
        p = put_text(put(p, &c->items[i].value, 8), text_of(c->items[i].name, MOST_TEXT));
    publish(&run->meta);
    return 0;
}

int mpitx_run_declare_column(struct mpitx_run *run, const struct mpitx_run_column *column)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    uint32_t size = element_bytes(column);
    if (!size || !column->count || column->count > run->live->chunk_bytes / size || column->item_count > 65536)
        return refuse(run, MPITX_RUN_INVALID);
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (try_lock_long(run)) {
        rc = run->column_count == run->most_columns ? MPITX_RUN_INVALID : write_column(run, column, size);
        if (!rc) {
            rc = (int)run->column_count++;
            run->columns[rc] = (struct run_column_info){size * column->count, size};
        }
        unlock(run);
    }
    errno = saved;
    return rc < 0 ? refuse(run, rc) : rc;
}

static int write_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets, uint32_t *row_bytes)
{
    uint64_t at = 0;
    if (run->set_count == run->most_sets || !count || count > run->live->chunk_bytes / 4)
        return MPITX_RUN_INVALID;
    for (uint32_t i = 0; i < count; i++) {
        if (columns[i] >= run->column_count)
            return MPITX_RUN_INVALID;
        const struct run_column_info *c = &run->columns[columns[i]];
        at = (at + c->element_bytes - 1) / c->element_bytes * c->element_bytes;
        if (offsets)
            offsets[i] = (uint32_t)at;
        at += c->bytes;
    }
    at = pad8(at);
    /* Its baseline, the longest record with it, must fit a meta chunk. */
    uint64_t record = sizeof(struct run_meta) + 8 + pad8(count) + at;
    if (record + RUN_META_RESERVE + sizeof(struct run_chunk) > run->live->chunk_bytes || record > UINT64_C(8) * UINT16_MAX)
        return MPITX_RUN_INVALID;
    uint8_t *p = meta_begin(run, RUN_META_SET, 16 + (size_t)count * 4, false);
    if (!p)
        return MPITX_RUN_FULL;
    uint32_t fixed[4] = {run->set_count, count, (uint32_t)at, 0};
    put(put(p, fixed, sizeof fixed), columns, (size_t)count * 4);
    publish(&run->meta);
    run->sets[run->set_count] = (struct run_set){(uint32_t)at, count, false};
    if (row_bytes)
        *row_bytes = (uint32_t)at;
    return (int)run->set_count++;
}

int mpitx_run_declare_set(struct mpitx_run *run, const uint32_t *columns, uint32_t count, uint32_t *offsets, uint32_t *row_bytes)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (try_lock_long(run)) {
        rc = write_set(run, columns, count, offsets, row_bytes);
        unlock(run);
    }
    errno = saved;
    return rc < 0 ? refuse(run, rc) : rc;
}

/* -- samples -- */

/* The first sample of a set, where it stays when the oldest samples make room, and where the budget ends early. */
static void write_baseline(struct mpitx_run *run, struct run_set *s, uint32_t set, uint64_t ticks, const void *row,
                           const uint8_t *statuses)
{
    size_t status_bytes = statuses ? pad8(s->columns) : 0;
    uint8_t *p = meta_begin(run, RUN_META_BASELINE, 8 + status_bytes + s->row_bytes, false);
    if (!p)
        return;
    uint32_t fixed[2] = {set, statuses ? 1 : 0};
    memcpy(p - 8, &ticks, 8);
    p = put(p, fixed, sizeof fixed);
    if (statuses) {
        memset(p + status_bytes - 8, 0, 8);
        memcpy(p, statuses, s->columns);
    }
    memcpy(p + status_bytes, row, s->row_bytes);
    publish(&run->meta);
    s->baseline = true;
}

static void note_budget(struct mpitx_run *run)
{
    int32_t fixed[2] = {MPITX_RUN_WARNING, MPITX_RUN_NOTE_BUDGET};
    struct text t = text_of("the size budget is used up: from here on samples are counted, not kept", MOST_TEXT);
    write_meta(run, RUN_META_NOTE, true, fixed, sizeof fixed, &t, 1);
    run->budget_noted = true;
}

/* Makes room for a sample of so many bytes and a time base before it. */
static bool next_chunk(struct mpitx_run *run, uint64_t ticks, size_t need)
{
    struct run_cursor *c = &run->samples;
    uint32_t most = UINT32_MAX;
    if (c->chunk)
        run_seal_chunk(run, c);
    if (run->share && run->policy == MPITX_RUN_STOP) {
        uint64_t left = run->share > run->written ? run->share - run->written : 0;
        uint64_t head = sizeof(struct run_chunk) + run->meta.used + sizeof(struct run_chunk) + RUN_META_RESERVE;
        if (left < head + need) {
            if (!run->budget_noted)
                note_budget(run);
            run_count(run, RUN_OVER_BUDGET, 1);
            run_count(run, RUN_OVER_BYTES, need);
            return false;
        }
        most = left - head > UINT32_MAX ? UINT32_MAX : (uint32_t)(left - head);
    }
    if (!run_take_chunk(run, c, RUN_KIND_SAMPLES, most)) {
        run_count(run, RUN_LOST_FULL, 1);
        return false;
    }
    c->chunk->first_ticks = run->base_ticks = ticks;
    return c->used + need <= c->room;
}

static bool all_ok(const uint8_t *statuses, uint32_t n)
{
    uint8_t any = 0;
    for (uint32_t i = 0; i < n; i++)
        any |= statuses[i];
    return !any;
}

static int write_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses)
{
    struct run_set *s = &run->sets[set];
    struct run_cursor *c = &run->samples;
    if (statuses && all_ok(statuses, s->columns))
        statuses = NULL;
    size_t status_bytes = statuses ? pad8(s->columns) : 0;
    size_t bytes = sizeof(struct run_record) + status_bytes + s->row_bytes;
    if (ticks < run->last_ticks)
        ticks = run->last_ticks;
    if (!s->baseline)
        write_baseline(run, s, set, ticks, row, statuses);
    if (!c->chunk || c->used + bytes + 16 > c->room) {
        if (!next_chunk(run, ticks, bytes + 16))
            return MPITX_RUN_FULL;
    }
    uint8_t *p = (uint8_t *)(c->chunk + 1) + c->used;
    if (ticks - run->base_ticks > UINT32_MAX) {
        struct run_record base = {2, RUN_TAG_BASE, 0};
        p = put(put(p, &base, sizeof base), &ticks, 8);
        c->used += 16;
        c->records++;
        run->base_ticks = ticks;
    }
    struct run_record head = {(uint16_t)(bytes / 8), (uint16_t)(RUN_TAG_SET + set), (uint32_t)(ticks - run->base_ticks)};
    if (statuses) {
        head.tag |= RUN_TAG_STATUSES;
        memset(p + sizeof head + status_bytes - 8, 0, 8);
        memcpy(p + sizeof head, statuses, s->columns);
    }
    memcpy(p, &head, sizeof head);
    memcpy(p + sizeof head + status_bytes, row, s->row_bytes);
    c->used += (uint32_t)bytes;
    run->last_ticks = ticks;
    publish(c);
    run->live->counter[RUN_SAMPLES]++;
    return 0;
}

int mpitx_run_sample(struct mpitx_run *run, uint32_t set, uint64_t ticks, const void *row, const uint8_t *statuses)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    if (!try_lock(run)) {
        run_count(run, RUN_LOST_BUSY, 1);
        return MPITX_RUN_BUSY;
    }
    int rc = set < run->set_count ? write_sample(run, set, ticks, row, statuses) : MPITX_RUN_INVALID;
    unlock(run);
    return rc;
}

void mpitx_run_missed(struct mpitx_run *run, uint64_t samples)
{
    if (!run_off(run))
        run_count(run, RUN_MISSED, samples);
}

void mpitx_run_cost(struct mpitx_run *run, uint64_t instants, uint64_t ns)
{
    if (run_off(run))
        return;
    run_count(run, RUN_INSTANTS, instants);
    run_count(run, RUN_COST_NS, ns);
}

/* -- open and close -- */

static int write_header(struct mpitx_run *run, const struct mpitx_run_options *o, const char *boot_id)
{
    struct run_header_body body = {
        .rank = o->rank, .size = o->size, .pid = (uint32_t)getpid(), .thread_level = o->thread_level,
        .t_thread_level = o->t_thread_level, .clock = run->clock, .ns_per_tick = run->ns_per_tick,
        .clock_error_ns = o->clock_error_ns, .interval_ns = o->interval_ns, .job_start_ns = o->job_start_ns,
        .mpi_version = o->mpi_version, .mpi_subversion = o->mpi_subversion, .share = run->share,
        .policy = (uint32_t)run->policy, .chunk_bytes = run->live->chunk_bytes,
    };
    struct text t[6] = {text_of(o->host, 256), text_of(boot_id, 64), text_of(o->family, 64),
                        text_of(o->library, MOST_LIBRARY_TEXT > run->live->chunk_bytes / 4 ? 1024 : MOST_LIBRARY_TEXT),
                        text_of(o->program, 1024), text_of(o->agent, 256)};
    return write_meta(run, RUN_META_HEADER, true, &body, sizeof body, t, 6);
}

static void read_boot_id(char *boot_id, size_t len)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, boot_id, len - 1);
    if (fd >= 0)
        close(fd);
    boot_id[n > 0 ? n : 0] = 0;
    boot_id[strcspn(boot_id, "\n")] = 0;
}

struct mpitx_run *mpitx_run_open(const struct mpitx_run_options *options, char *why, size_t why_len)
{
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    struct mpitx_run *run = run_store_open(options, why, why_len);
    if (run) {
        char boot_id[64];
        read_boot_id(boot_id, sizeof boot_id);
        if (write_header(run, options, boot_id) || write_clock(run, true)) {
            snprintf(why, why_len, "the header does not fit a chunk");
            run_store_discard(run);
            run = NULL;
        }
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return run;
}

const char *mpitx_run_live_path(const struct mpitx_run *run) { return run ? run->live_path : ""; }

static void write_end(struct mpitx_run *run, int end)
{
    uint64_t counters[1 + RUN_COUNTERS] = {RUN_COUNTERS};
    memcpy(counters + 1, run->live->counter, sizeof run->live->counter);
    write_meta(run, RUN_META_COUNTERS, true, counters, sizeof counters, NULL, 0);
    write_clock(run, true);
    int32_t fixed[2] = {end, 0};
    write_meta(run, RUN_META_END, true, fixed, sizeof fixed, NULL, 0);
    run->live->ended = 1;
}

void mpitx_run_close(struct mpitx_run **at, int end)
{
    struct mpitx_run *run = *at;
    *at = NULL;
    if (run_off(run))
        return;
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (try_lock_long(run)) {
        atomic_store(run->alive, 0);
        if (run->samples.chunk)
            run_seal_chunk(run, &run->samples);
        write_end(run, end);
        if (run->meta.chunk)
            run_seal_chunk(run, &run->meta);
        unlock(run);
        run_store_close(run);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}
