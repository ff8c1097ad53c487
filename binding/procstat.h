/* procstat.h: reads /proc/PID/stat. */
#ifndef MPITX_PROCSTAT_H
#define MPITX_PROCSTAT_H

#include <stdint.h>
#include <sys/types.h>

struct procstat {
    char name[64];
    char state; /* 0: no such process, or no /proc */
    pid_t parent;
    long ticks;     /* user and system time in clock ticks */
    uint64_t start; /* start time in clock ticks since boot, as a PID alone may be reused */
};

/* Reads a process, or this one (0). Allocates nothing. */
struct procstat procstat_read(pid_t pid);

#endif
