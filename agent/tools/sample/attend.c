/* attend.c: samples by calls that are about as rare as samples.
 *
 * If no processor is free, each sample of the thread interrupts a process, for 20 to 40 us in a virtual machine. While calls attend, they
 * read the clock when they start and when they end. No value changes between calls, so a call that starts fills in all instants since the
 * call before it ended, and the thread need not wake. Instants within a call are missed. If there are many, the thread samples again.
 *
 * Calls do not attend while they are frequent, as they are on time without it, nor in programs whose threads call MPI at the same time. */
#include "mpi/requests.h"
#include "tools/sample/sampler.h"

#define CHECKS 128          /* that calls may make for each sample, of some 30 ns each */
#define MAX_CHECKS (8 * CHECKS)

static int checks_left;
static atomic_bool inside;        /* a call has started and not ended, or that is unknown */
static _Atomic uint64_t starts;   /* of calls */
static uint64_t starts_seen;      /* when the values of a sample began to be read */

bool sampler_attend_start(void)
{
    if (requests_shared)
        return false;
    checks_left += CHECKS;
    if (checks_left < CHECKS)
        return false;
    atomic_store(&inside, true);
    sampler.attends = sampler.compares = true;
    chain_alert(true);
    return true;
}

void sampler_attend_end(void)
{
    if (!sampler.attends)
        return;
    sampler.attends = false;
    sampler_quiet_end();
}

bool sampler_attend_outside(void)
{
    starts_seen = atomic_load(&starts);
    return sampler.outside = sampler.attends && !atomic_load(&inside);
}

bool sampler_attend_still_outside(void)
{
    return sampler.outside && atomic_load(&starts) == starts_seen;
}

void sampler_attend_call(bool begins, uint64_t now)
{
    if (begins)
        atomic_fetch_add(&starts, 1);
    if ((now >= atomic_load_explicit(&sampler.next_due, memory_order_relaxed) || checks_left <= 0) && sampler_try_lock()) {
        if (checks_left <= 0 || requests_shared)
            sampler_attend_end();
        if (begins)
            sampler_attend_outside();
        uint64_t before = sampler.samples;
        sampler_due(now);
        sampler.outside = false;
        if (sampler.samples > before)
            checks_left = checks_left + CHECKS < MAX_CHECKS ? checks_left + CHECKS : MAX_CHECKS;
        sampler_unlock();
    }
    atomic_store(&inside, begins);
    checks_left--;
}
