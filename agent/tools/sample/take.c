/* take.c: takes one sample. */
#include "base/clock.h"
#include "tools/sample/sampler.h"

#define PAIR_NS UINT64_C(10000000000) /* between clock pairs */

struct sampler_counts sampler_counts;

void sampler_write(struct pvar_group *g, uint64_t ticks)
{
    for (struct pvar_row *row = g->rows, *end = row + g->row_count; row < end; row++) {
        if (__builtin_expect(pvar.virtual_only, 0) && row->library)
            sampler_counts.library_skipped++;
        else
            mpitx_run_sample(agent_run, (uint32_t)row->set, ticks, row->row, row->bad ? row->statuses : NULL);
    }
}

static void take_group(struct pvar_group *g, uint64_t now)
{
    pvar_read(g, now);
    sampler_write(g, now);
}

/* Only if the group is declared: many communicators live less than a period and are not recorded. */
void sampler_take_last(struct pvar_group *g)
{
    if (!g->declared || atomic_load(&sampler_state) != SAMPLER_ON) return;
    uint64_t now = clock_ticks();
    take_group(g, now);
    mpitx_run_cost(agent_run, 0, clock_nanoseconds(clock_ticks() - now));
}

void sampler_take(uint64_t now)
{
    sampler_bind_made();
    pvar_node_read(now, false);
    for (struct pvar_group *g = pvar.groups; g; g = g->next)
        if (sampler_takes(g) && (__builtin_expect(g->declared, 1) || pvar_group_declare(g))) take_group(g, now);
    sampler_taken(now);
}

bool sampler_take_now(bool library)
{
    if (atomic_load_explicit(&sampler_state, memory_order_relaxed) != SAMPLER_ON) return false;
    uint64_t now = clock_ticks();
    pvar.virtual_only = !library;
    sampler_take(now);
    pvar.virtual_only = false;
    mpitx_run_cost(agent_run, 1, clock_nanoseconds(clock_ticks() - now));
    return true;
}

static void report_depth(void)
{
    static bool reported;
    if (!reported) agent_report(MPITX_RUN_WARNING, "some MPI calls are not counted: " CHAIN_TOO_DEEP, CHAIN_FRAMES);
    reported = true;
}

void sampler_taken(uint64_t ticks)
{
    sampler_counts.samples++;
    pvar.node_read = false;
    if (__builtin_expect(chain_losses().frames != 0, 0)) report_depth();
    if (__builtin_expect(ticks >= sampler_counts.next_pair, 0)) {
        mpitx_run_clock_pair(agent_run);
        sampler_counts.next_pair = ticks + clock_from_nanoseconds(PAIR_NS);
    }
}
