//go:build cgo && linux

/* limits.c: ends the process, with a message, if its limits are too small for Go's runtime, which would print stacks. */
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LEAST_FILES = 16, GOOD_FILES = 64, LEAST_KILOBYTES = 3 << 19, GOOD_KILOBYTES = 2 << 20 }; /* measured */

/* refuse exits as main would after a failure: docs/reference.md. */
static void refuse(int argc, char **argv, const char *why)
{
    static const char *const two[] = {"check", "diff", "verify"};
    int code = 1;
    for (size_t k = 0; argc > 1 && k < sizeof two / sizeof *two; k++)
        if (strcmp(argv[1], two[k]) == 0) code = 2;
    fprintf(stderr, "mpitx: start: %s\n", why);
    _exit(code);
}

__attribute__((constructor)) static void check_limits(int argc, char **argv, char **envp)
{
    struct rlimit limit;
    char why[160];
    (void)envp;
    /* Go raises the soft limit of files. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < LEAST_FILES) {
        snprintf(why, sizeof why, "only %llu files may be open at a time; raise the limit with ulimit -n to %d or more", (unsigned long long)limit.rlim_max, GOOD_FILES);
        refuse(argc, argv, why);
    }
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    mallopt(M_ARENA_MAX, 1); /* each reserves 128 MiB */
    if (limit.rlim_cur / 1024 < LEAST_KILOBYTES) {
        snprintf(why, sizeof why, "the address space is limited to %llu KiB; raise the limit with ulimit -v to %d or more", (unsigned long long)limit.rlim_cur / 1024, GOOD_KILOBYTES);
        refuse(argc, argv, why);
    }
}
