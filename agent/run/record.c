/* record.c: records of declarations, notes and clocks. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Reserves a meta record with a body of the given size, zero-padded; commit it with run_publish(&run->meta). Only records that end a run
 * may use the reserve (essential). */
uint8_t *run_meta_begin(struct mpitx_run *run, int type, size_t body, bool essential)
{
    uint64_t bytes = pad8(sizeof(struct run_meta) + body);
    uint32_t reserve = essential ? 0 : RUN_META_RESERVE;
    struct run_cursor *c = &run->meta;
    if (bytes + RUN_META_RESERVE + sizeof(struct run_chunk) > run->live->chunk_bytes)
        return NULL;
    if (!essential && run->share && run->written > run->share + run->live->chunk_bytes)
        return NULL;
    if (!c->chunk || c->used + bytes + reserve > c->room) {
        if (c->chunk) {
            if (!run_has_free(run)) /* the reserve is for the records that end the run */
                return NULL;
            run_seal_chunk(run, c);
        }
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
    for (int i = 0; i < text_count; i++)
        body += 4 + texts[i].n;
    uint8_t *p = run_meta_begin(run, type, body, essential);
    if (!p)
        return MPITX_RUN_FULL;
    p = run_put(p, fixed, fixed_bytes);
    for (int i = 0; i < text_count; i++)
        p = run_put_text(p, texts[i]);
    run_publish(&run->meta);
    return 0;
}

static int locked_meta(struct mpitx_run *run, int type, const void *fixed, size_t fixed_bytes, const struct run_text *texts,
                       int text_count)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc;
    if (!run_try_lock_long(run)) {
        rc = run_refuse(run, MPITX_RUN_BUSY);
    } else {
        rc = run_write_meta(run, type, false, fixed, fixed_bytes, texts, text_count);
        run_unlock(run);
        if (rc)
            run_refuse(run, rc);
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
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    uint32_t fixed[2] = {count, 2}; /* number of figures of each */
    size_t bytes = sizeof fixed;
    for (uint32_t i = 0; i < count; i++)
        bytes += 16 + 4 + run_text_of(functions[i].name, RUN_MAX_TEXT).n;
    if (run_try_lock_long(run)) {
        uint8_t *p = run_meta_begin(run, RUN_META_FUNCTIONS, bytes, false);
        rc = p ? 0 : MPITX_RUN_FULL;
        if (p)
            p = run_put(p, fixed, sizeof fixed);
        for (uint32_t i = 0; p && i < count; i++) {
            uint64_t figures[2] = {functions[i].calls, functions[i].time_ns};
            p = run_put_text(run_put(p, figures, sizeof figures), run_text_of(functions[i].name, RUN_MAX_TEXT));
        }
        if (p)
            run_publish(&run->meta);
        run_unlock(run);
    }
    errno = saved;
    return rc;
}

int mpitx_run_outcome(struct mpitx_run *run, int after, const char *cvar, const char *asked, const char *old_value,
                      const char *read_back, const char *result)
{
    int32_t fixed[2] = {after, 0};
    struct run_text t[5] = {run_text_of(cvar, RUN_MAX_TEXT), run_text_of(asked, RUN_MAX_TEXT), run_text_of(old_value, RUN_MAX_TEXT),
                        run_text_of(read_back, RUN_MAX_TEXT), run_text_of(result, RUN_MAX_TEXT)};
    return locked_meta(run, RUN_META_OUTCOME, fixed, sizeof fixed, t, 5);
}

/* -- clocks -- */

static int64_t nanoseconds(struct timespec t) { return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec; }

uint64_t run_monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)nanoseconds(t);
}

/* Asks the kernel, as a preloaded library, such as libfaketime, may change what clock_gettime returns. */
static int64_t clock_ns(clockid_t id)
{
    struct timespec t;
    syscall(SYS_clock_gettime, id, &t);
    return nanoseconds(t);
}

/* Returns the tightest of five readings of all clocks. */
uint64_t run_read_clocks(const struct mpitx_run *run, struct run_clock_body *best)
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
        if (run->clock == MPITX_RUN_CLOCK_MONOTONIC)
            mono = (int64_t)(t0 + width / 2);
        at = t0 + width / 2;
        *best = (struct run_clock_body){mono, real, (double)width * run->ns_per_tick / 2};
    }
    return at;
}

void run_write_counters(struct mpitx_run *run)
{
    uint64_t counters[1 + RUN_COUNTERS] = {RUN_COUNTERS};
    memcpy(counters + 1, run->live->counter, sizeof run->live->counter);
    run_write_meta(run, RUN_META_COUNTERS, true, counters, sizeof counters, NULL, 0);
}

int run_write_clock(struct mpitx_run *run, bool essential)
{
    struct run_clock_body body;
    uint64_t at = run_read_clocks(run, &body);
    uint8_t *p = run_meta_begin(run, RUN_META_CLOCK, sizeof body, essential);
    if (!p)
        return MPITX_RUN_FULL;
    memcpy(p - 8, &at, 8);
    memcpy(p, &body, sizeof body);
    run_publish(&run->meta);
    return 0;
}

int mpitx_run_clock_pair(struct mpitx_run *run)
{
    if (run_off(run))
        return MPITX_RUN_OFF;
    int saved = errno, rc = MPITX_RUN_BUSY;
    if (run_try_lock_long(run)) {
        rc = run_write_clock(run, false);
        run_unlock(run);
    }
    if (rc)
        run_refuse(run, rc);
    errno = saved;
    return rc;
}
