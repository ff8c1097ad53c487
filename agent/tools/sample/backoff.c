/* backoff.c: back-off of the sampler thread while values are constant.
 *
 * A process that computes makes no calls that could sample. If no processor is free, each sample of the thread
 * interrupts it, for 40 us in a virtual machine. After several samples with equal values the thread therefore samples
 * only some instants. If the values are still equal then, the instants in between get the same values. Otherwise these
 * instants are counted as missed, and the thread samples each instant again. It also does so from the next MPI call on,
 * which samples before it can change a value.
 *
 * Calls that are about as rare as samples can sample in its place: they attend. They read the clock when they start and
 * when they end. No value changes between calls, so a call that starts fills in all instants since the call before it
 * ended, and the thread need not wake. Instants within a call are missed. If there are many, the thread samples again.
 * Calls do not attend while they are frequent, as they are on time without it, nor if threads call MPI at the same
 * time. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "mpi/requests.h"
#include "tools/sample/sampler.h"

#define CHECKS 128 /* that calls may make for each sample, of some 30 ns each */
#define MAX_CHECKS (8 * CHECKS)
#define STRIDE 4
#define QUIET_AFTER 8
#define MAX_PASSED 1000 /* instants filled under the lock, in less than a millisecond */

struct sampler_backoff sampler_backoff;
static unsigned same; /* consecutive samples of the thread with equal values */

/* ---- calls that attend ---- */

void sampler_quiet_end(void)
{
    same = 0;
    sampler_backoff.compares = sampler_backoff.attends;
    sampler_backoff.stride = sampler_backoff.pace;
    if (chain_is_alerted() && !sampler_backoff.attends) chain_alert(false);
}

bool sampler_attend_start(void)
{
    if (requests_shared) return false;
    sampler_backoff.checks_left += CHECKS;
    if (sampler_backoff.checks_left < CHECKS) return false;
    atomic_store(&sampler_backoff.inside, true);
    sampler_backoff.attends = sampler_backoff.compares = true;
    chain_alert(true);
    return true;
}

void sampler_attend_end(void)
{
    if (!sampler_backoff.attends) return;
    sampler_backoff.attends = false;
    sampler_quiet_end();
}

void sampler_attend_sampled(void)
{
    sampler_backoff.checks_left += CHECKS;
    if (sampler_backoff.checks_left > MAX_CHECKS) sampler_backoff.checks_left = MAX_CHECKS;
}

bool sampler_attend_outside(void)
{
    sampler_backoff.starts_seen = atomic_load(&sampler_backoff.starts);
    return sampler_backoff.outside = sampler_backoff.attends && !atomic_load(&sampler_backoff.inside);
}

/* After the values were read: whether no call has started meanwhile. */
static bool still_outside(void)
{
    return sampler_backoff.outside && atomic_load(&sampler_backoff.starts) == sampler_backoff.starts_seen;
}

/* ---- constant values ---- */

static bool row_same(struct pvar_row *row)
{
    if (row->last && row->bad == 0 && memcmp(row->last, row->row, row->bytes) == 0) return true;
    if (!row->last && (row->last = memory_get(row->bytes)) == NULL) return false;
    memcpy(row->last, row->row, row->bytes);
    return false;
}

/* Reads all values and compares them with the last ones. Between calls the agent's own variables have had their values
 * since the last call, whatever the last sample found. */
static bool read_same(uint64_t now)
{
    bool all = true;
    sampler_bind_made();
    for (struct pvar_group *g = pvar.groups; g; g = g->next) {
        if (g->node) continue; /* it has values of its own between calls */
        if (!g->declared) {
            all = false;
            if (!pvar_group_declare(g)) continue;
        }
        pvar_read(g, now);
        for (uint32_t i = 0; i < g->row_count; i++)
            all &= row_same(&g->rows[i]) | (g->rows[i].library ? pvar.virtual_only : sampler_backoff.outside);
    }
    return all && (!sampler_backoff.outside || still_outside());
}

static void write_all(uint64_t ticks)
{
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        if (g->declared && sampler_takes(g)) sampler_write(g, ticks);
    sampler_taken(ticks);
}

uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed)
{
    uint64_t room = sampler_counts.limit ? sampler_counts.limit - sampler_counts.samples - 1 : UINT64_MAX;
    if (!read_same(now)) {
        sampler_quiet_end();
        return 0;
    }
    if ((sampler_backoff.stride == 1 && !sampler_backoff.outside) || passed > MAX_PASSED || passed > room) passed = 0;
    for (uint64_t i = 0; i < passed; i++) write_all(due + i * sampler_schedule.interval);
    return passed;
}

uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed)
{
    uint64_t filled = sampler_quiet_fill(now, due, passed);
    pvar_node_read(now, false);
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        if (g->node && pvar.node_read) pvar_read(g, now);
    write_all(now);
    if (sampler_backoff.compares && !sampler_backoff.attends && ++same >= QUIET_AFTER)
        sampler_backoff.stride = sampler_backoff.pace * STRIDE;
    if (sampler_backoff.stride > 1) chain_alert(true);
    return filled;
}
