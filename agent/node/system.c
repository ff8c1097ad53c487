/* system.c: what the kernel counts for the process. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "node/node.h"

/* Only kernels with scheduler statistics have the file, which belongs to the main thread. */
bool system_migrations(uint64_t *migrations)
{
    char text[4096];
    if (file_read("/proc/self/sched", text, sizeof text) <= 0) return false;
    char *line = strstr(text, "nr_migrations "), *colon = line ? strchr(line, ':') : NULL;
    if (colon) *migrations = strtoull(colon + 1, NULL, 10);
    return colon != NULL;
}

static void read_memory(struct node_counter *memory)
{
    char text[128], *resident;
    if (file_read("/proc/self/statm", text, sizeof text) > 0 && (resident = strchr(text, ' ')) != NULL)
        counter_set_level(memory, strtoull(resident, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE));
    else
        counter_lost(memory, "/proc/self/statm could not be read");
}

void system_read(const bool *wanted)
{
    struct rusage usage;
    uint64_t migrations;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        const long counts[] = {usage.ru_minflt, usage.ru_majflt, usage.ru_nvcsw, usage.ru_nivcsw};
        for (int i = 0; i < 4; i++) counter_set(&node_counters[NODE_FAULTS + i], (uint64_t)counts[i]);
    }
    if (wanted[NODE_MEMORY]) read_memory(&node_counters[NODE_MEMORY]);
    if (!wanted[NODE_MIGRATIONS]) return;
    if (system_migrations(&migrations))
        counter_set(&node_counters[NODE_MIGRATIONS], migrations);
    else
        counter_lost(&node_counters[NODE_MIGRATIONS], "/proc/self/sched could not be read");
}
