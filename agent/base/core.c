/* core.c: finds a core for the helper thread on which no process of the job computes.
 *
 * Launchers bind each process to a core, and its threads inherit the binding. The helper would then interrupt the
 * application at each sample even if another core is idle. The cores that the launcher itself may use belong to the
 * job. The helper uses only those, and only if they outnumber the job's processes here. Another binding is kept. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/core.h"
#include "binding/procstat.h"

#define MAX_ANCESTORS 4 /* a shell or mpitx may be in between */

/* Returns the launcher's count of processes on this node. */
static long local_processes(void)
{
    static const char *const names[] =
        {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PALS_LOCAL_SIZE", "SLURM_TASKS_PER_NODE"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        if (text && atol(text) > 0) return atol(text);
    }
    return agent_process.size > 0 ? agent_process.size : 1;
}

static bool is_launcher(const char *name)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "orted", "prterun", "prted", "hydra_pmi"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static bool launcher_cores(cpu_set_t *cores)
{
    pid_t pid = getppid();
    for (int i = 0; i < MAX_ANCESTORS && pid > 1; i++) {
        struct procstat ancestor = procstat_read(pid);
        if (is_launcher(ancestor.name)) return sched_getaffinity(pid, sizeof *cores, cores) == 0;
        pid = ancestor.parent;
    }
    return false;
}

bool core_free(cpu_set_t *other)
{
    cpu_set_t own;
    long processes = local_processes();
    CPU_ZERO(other);
    if (sched_getaffinity(0, sizeof own, &own) != 0) /* more cores than fit a set */
        return sysconf(_SC_NPROCESSORS_ONLN) > processes;
    if (CPU_COUNT(&own) > 1 && sysconf(_SC_NPROCESSORS_ONLN) > processes) return true;
    if (launcher_cores(other) && CPU_COUNT(other) > processes) return true;
    CPU_ZERO(other);
    return false;
}
