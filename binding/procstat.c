#define _GNU_SOURCE
#include "procstat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct procstat procstat_read(pid_t pid)
{
    const struct procstat none = {0};
    struct procstat stat = none;
    char path[64] = "/proc/self/stat", text[1024];
    if (pid != 0)
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return none;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = 0;
    char *name = strchr(text, '('), *end = strrchr(text, ')'); /* the name may contain blanks and parentheses */
    long user, system;
    unsigned long long start;
    if (!name || !end || sscanf(end + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld %*d %*d %*d %*d %*d %*d %llu",
                                &stat.state, &stat.parent, &user, &system, &start) != 5)
        return none;
    stat.ticks = user + system;
    stat.start = start;
    snprintf(stat.name, sizeof stat.name, "%.*s", (int)(end - name - 1), name + 1);
    return stat;
}
