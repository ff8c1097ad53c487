/* procstat.h: what Linux says of a process in /proc/PID/stat. */
#ifndef MPITX_PROCSTAT_H
#define MPITX_PROCSTAT_H

#include <stdint.h>
#include <sys/types.h>

struct procstat {
    char name[64];
    char state; /* 0: there is no such process, or no /proc */
    pid_t parent;
    long ticks;     /* processor time, of the user and the system */
    uint64_t start; /* when it started, in ticks since the boot: an identifier alone may be another process's later */
};

/* A process, or this one (0). Allocates nothing. */
struct procstat procstat_read(pid_t pid);

#endif
