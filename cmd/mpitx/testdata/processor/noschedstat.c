/* noschedstat.c: a preloaded library for a kernel without schedstat. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_other(const char *name, int flags, va_list rest)
{
    size_t n = strlen(name), m = strlen("/schedstat");
    if (n > m && strcmp(name + n - m, "/schedstat") == 0) {
        errno = ENOENT;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, name, flags, flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0);
}

#define OPEN(function)                                                                                                                               \
    int function(const char *name, int flags, ...)                                                                                                   \
    {                                                                                                                                                \
        va_list rest;                                                                                                                                \
        va_start(rest, flags);                                                                                                                       \
        int file = open_other(name, flags, rest);                                                                                                    \
        va_end(rest);                                                                                                                                \
        return file;                                                                                                                                 \
    }
OPEN(open)
OPEN(open64)
