/* run.c: opening, ending, counters. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define DYING_LOCK_MS 100 /* a dying process must not wait long */

void mpitx_run_missed(struct mpitx_run *run, uint64_t samples)
{
    if (!run_off(run)) run_count(run, RUN_MISSED, samples);
}

void mpitx_run_cost(struct mpitx_run *run, uint64_t instants, uint64_t ns)
{
    if (run_off(run)) return;
    run->live->counter[RUN_INSTANTS] += instants;
    run->live->counter[RUN_COST_NS] += ns;
}

/* ---- open and close ---- */

static int write_header(struct mpitx_run *run, const struct mpitx_run_options *o, const char *boot_id)
{
    struct run_header_body body = {
        .rank = o->rank, .size = o->size, .pid = (uint32_t)getpid(), .thread_level = o->thread_level,
        .t_thread_level = o->t_thread_level, .clock = run->clock, .ns_per_tick = run->ns_per_tick,
        .clock_error_ns = o->clock_error_ns, .interval_ns = o->interval_ns, .job_start_ns = o->job_start_ns,
        .mpi_version = o->mpi_version, .mpi_subversion = o->mpi_subversion, .share = run->share,
        .policy = (uint32_t)run->policy, .chunk_bytes = run->live->chunk_bytes,
    };
    struct run_text t[6] = {run_text_of(o->host, 256), run_text_of(boot_id, 64), run_text_of(o->family, 64),
                            run_text_of(o->library, RUN_MAX_LIBRARY_TEXT > run->live->chunk_bytes / 4 ? 1024
                                        : RUN_MAX_LIBRARY_TEXT), run_text_of(o->program, 1024),
                                        run_text_of(o->agent, 256)};
    int rc = run_write_meta(run, RUN_META_HEADER, true, &body, sizeof body, t, 6);
    return rc || !o->spawned.first
           ? rc : run_write_meta(run, RUN_META_SPAWNED, true, &o->spawned, sizeof o->spawned, NULL, 0);
}

struct mpitx_run *mpitx_run_open(const struct mpitx_run_options *options, char *why, size_t why_len)
{
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    struct mpitx_run *run = run_store_open(options, why, why_len);
    if (run) {
        char boot_id[64];
        run_boot_id(boot_id, sizeof boot_id);
        if (write_header(run, options, boot_id) || run_write_clock(run, true)) {
            snprintf(why, why_len, "the header does not fit a chunk");
            run_store_discard(run);
            run = NULL;
        } else {
            agent_lacks_move((struct agent_lacks *)&run->live->counter[RUN_LACKS]);
        }
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return run;
}

void mpitx_run_flush(struct mpitx_run *run)
{
    if (run_off(run)) return;
    int saved = errno;
    if (run_try_lock_long(run)) {
        run_seal_meta(run);
        run_unlock(run);
    }
    errno = saved;
}

void mpitx_run_await_room(struct mpitx_run *run)
{
    if (run_off(run)) return;
    int saved = errno;
    const struct timespec pause = {0, 200000};
    for (uint64_t start = run_monotonic(); !run_has_slot(run, RUN_SLOT_FREE) && run_has_slot(run, RUN_SLOT_SEALED) &&
                                           run_monotonic() - start < run->close_wait_ms * UINT64_C(1000000);)
        nanosleep(&pause, NULL);
    errno = saved;
}

const char *mpitx_run_live_path(const struct mpitx_run *run) { return run ? run->live_path : ""; }

static void write_end(struct mpitx_run *run, int end)
{
    run_write_losses(run);
    run->old_at_end = run->live->counter[RUN_OLD_EVENTS];
    run_write_counters(run);
    run_write_clock(run, true);
    int32_t fixed[2] = {end, 0};
    run_write_meta(run, RUN_META_END, true, fixed, sizeof fixed, NULL, 0);
    run->end = end;
    run->live->ended = 1;
}

/* Waits, as the flusher may have no core while it holds the lock. */
static bool lock_to_end(struct mpitx_run *run, uint64_t max_ms)
{
    const struct timespec pause = {0, 200000};
    for (uint64_t start = run_monotonic(); !run_try_lock(run); nanosleep(&pause, NULL))
        if (run_monotonic() - start > max_ms * 1000000) return false;
    return true;
}

void mpitx_run_close(struct mpitx_run **at, int end, bool tidy)
{
    struct mpitx_run *run = *at;
    *at = NULL;
    if (run_off(run)) return;
    int saved = errno, cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (tidy && run->addresses) mpitx_run_modules(run);
    if (lock_to_end(run, tidy && !run->lock_stuck ? run->close_wait_ms : DYING_LOCK_MS)) {
        atomic_store(run->alive, 0);
        write_end(run, end);
        if (run->meta.chunk) run_seal_chunk(run, &run->meta);
        if (run->samples.chunk) run_seal_chunk(run, &run->samples);
        run_seal_events(run);
        run_seal_tables(run);
        run_unlock(run);
        run_store_close(run, tidy);
    }
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
}
