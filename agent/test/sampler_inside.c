/* sampler_inside.c: the interface of programs in this folder to the sampler; linked into an agent for benchmarks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "tools/sample/sampler.h"

enum { MOST = 64 };

/* The library's own function, past the agent. */
__attribute__((visibility("default"))) void *agenttest_library(const char *name)
{
    return dlsym(dlopen(agent_process.library, RTLD_NOW | RTLD_NOLOAD), name);
}

/* Measures the nanoseconds of a loop of MPI_T_pvar_read over all sampled variables, and of a sample as a call takes it (clock, lock, reads,
 * record, accounting), each as the mean of a batch. Returns the number of variables; 0 if there are none, if some are arrays or virtual, or
 * if the interval is too short for a batch. */
__attribute__((visibility("default"))) int agenttest_inside(int batch, double *bare, double *sample)
{
    static __typeof__(MPI_T_pvar_read) *library_read;
    static MPI_T_pvar_handle handle[MOST];
    static unsigned long long buffer[MOST];
    uint32_t readings = 0, n = 0;
    if (!library_read)
        library_read = (__typeof__(library_read))agenttest_library("PMPI_T_pvar_read");
    if (!library_read || atomic_load(&sampler_state) != SAMPLER_ON || !sampler_lock())
        return 0;
    for (struct pvar_group *g = pvar.groups; g; g = g->next) {
        readings += g->reading_count;
        for (uint32_t i = 0; i < g->reading_count && n < MOST; i++)
            if (!g->readings[i].variable->virtual && g->readings[i].count == 1)
                handle[n++] = (MPI_T_pvar_handle)g->readings[i].handle;
    }
    MPI_T_pvar_session session = (MPI_T_pvar_session)pvar.session;
    uint64_t kept = atomic_load(&sampler_schedule.next), t0 = clock_ticks();
    for (int k = 0; k < batch; k++)
        for (uint32_t i = 0; i < n; i++)
            library_read(session, handle[i], &buffer[i]);
    uint64_t t1 = clock_ticks();
    sampler_unlock();
    for (int k = 0; k < batch; k++) {
        atomic_store_explicit(&sampler_schedule.next, t1, memory_order_relaxed);
        sampler_call(&chain_thread);
    }
    uint64_t t2 = clock_ticks();
    atomic_store(&sampler_schedule.next, kept);
    *bare = (double)clock_nanoseconds(t1 - t0) / batch;
    *sample = (double)clock_nanoseconds(t2 - t1) / batch;
    return t2 - t1 < sampler_schedule.interval && n == readings ? (int)n : 0;
}

/* Pauses sampling for an hour, or resumes it, without missed samples; the helper thread sleeps as long. */
__attribute__((visibility("default"))) void agenttest_stop(int stop)
{
    if (!sampler_lock())
        return;
    atomic_store(&sampler_schedule.next, clock_ticks() + (stop ? clock_from_nanoseconds(UINT64_C(3600000000000)) : sampler_schedule.interval));
    sampler_schedule.next_align = stop ? UINT64_MAX : 0;
    sampler_unlock();
    sampler_wake_thread(); /* wakes it to read the new due time */
}
