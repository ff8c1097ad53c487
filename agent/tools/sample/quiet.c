/* quiet.c: back-off of the sampler thread while values are constant.
 *
 * A process that computes makes no calls that could sample. If no processor is free, each sample of the thread interrupts it, for 40 us in
 * a virtual machine. After several samples with equal values the thread therefore samples only some instants. If the values are still
 * equal then, the instants in between get the same values. Otherwise these instants are counted as missed, and the thread samples each
 * instant again. It also does so from the next MPI call on, which samples before it can change a value. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tools/sample/sampler.h"

#define QUIET_AFTER 8
#define MAX_PASSED 1000 /* instants filled under the lock, in less than a millisecond */

static unsigned same; /* consecutive samples of the thread with equal values */

static bool row_same(struct pvar_row *row)
{
    if (row->last && row->bad == 0 && memcmp(row->last, row->row, row->bytes) == 0)
        return true;
    if (!row->last && (row->last = memory_get(row->bytes)) == NULL)
        return false;
    memcpy(row->last, row->row, row->bytes);
    return false;
}

/* Reads all values and compares them with the last ones. Between calls the agent's own variables have had their values since the last
 * call, whatever the last sample found. */
static bool read_same(uint64_t now)
{
    bool all = true;
    for (struct pvar_group *g = pvar.groups; g; g = g->next) {
        if (!g->declared) {
            all = false;
            if (!pvar_group_declare(g))
                continue;
        }
        pvar_read(g, now);
        for (uint32_t i = 0; i < g->row_count; i++)
            all &= row_same(&g->rows[i]) | (g->rows[i].library ? pvar.virtual_only : sampler.outside);
    }
    return all && (!sampler.outside || sampler_attend_still_outside());
}

static void write_all(uint64_t ticks)
{
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        if (g->declared)
            sampler_write(g, ticks);
    sampler_taken(ticks);
}

void sampler_quiet_end(void)
{
    same = 0;
    sampler.compares = sampler.attends;
    sampler.stride = sampler.pace;
    if (chain_is_alerted() && !sampler.attends)
        chain_alert(false);
}

uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed)
{
    uint64_t room = sampler.limit ? sampler.limit - sampler.samples - 1 : UINT64_MAX;
    if (!read_same(now)) {
        sampler_quiet_end();
        return 0;
    }
    if ((sampler.stride == 1 && !sampler.outside) || passed > MAX_PASSED || passed > room)
        passed = 0;
    for (uint64_t i = 0; i < passed; i++)
        write_all(due + i * sampler.interval);
    return passed;
}

uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed)
{
    uint64_t filled = sampler_quiet_fill(now, due, passed);
    write_all(now);
    if (sampler.compares && !sampler.attends && ++same >= QUIET_AFTER)
        sampler.stride = sampler.pace * SAMPLER_STRIDE;
    if (sampler.stride > 1)
        chain_alert(true);
    return filled;
}
