/* claim.c: only the first process of each rank is recorded. A child that inherits the environment, or the next program
 * of a script, has the same rank in the same run. The file "claims" has 32 bytes for each rank, also those about to be
 * spawned. */
#define _GNU_SOURCE
#include "run/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

struct claim {
    uint32_t pid, left_out; /* the recorded process, and the number of later ones */
    char program[24];       /* of the last of those */
};

/* Held briefly. On file systems without locks the process claims its slot all the same. */
static void lock_claim(int fd, off_t at, off_t bytes)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = bytes};
    for (int i = 0; i < 50 && fcntl(fd, F_OFD_SETLK, &range) != 0 && (errno == EAGAIN || errno == EACCES); i++)
        usleep(1000);
}

bool run_claim(const char *dir, int32_t rank)
{
    char path[PATH_MAX];
    struct claim claim = {0};
    off_t at = (off_t)rank * (off_t)sizeof claim;
    snprintf(path, sizeof path, "%s/claims", dir);
    int fd = rank < 0 ? -1 : run_open_ours(path, 0);
    if (fd < 0) return true; /* a directory that cannot be written is reported later */
    lock_claim(fd, at, sizeof claim);
    bool first = pread(fd, &claim, sizeof claim, at) != (ssize_t)sizeof claim || claim.pid == 0;
    if (first) {
        claim = (struct claim){.pid = (uint32_t)getpid()};
    } else {
        claim.left_out++;
        snprintf(claim.program, sizeof claim.program, "%s", program_invocation_short_name);
    }
    (void)!pwrite(fd, &claim, sizeof claim, at);
    close(fd); /* unlocks too */
    return first;
}

int32_t mpitx_run_reserve(const char *dir, int32_t least, int32_t count)
{
    char path[PATH_MAX];
    struct stat st;
    struct run_signals signals;
    snprintf(path, sizeof path, "%s/claims", dir);
    int saved = errno, fd = run_open_ours(path, 0);
    if (fd < 0) return -1;
    run_block_sigxfsz(&signals);
    lock_claim(fd, 0, 0);
    off_t bytes = sizeof(struct claim), first = fstat(fd, &st) == 0 ? (st.st_size + bytes - 1) / bytes : 0;
    if (first < least) first = least;
    bool ok = ftruncate(fd, (first + count) * bytes) == 0;
    close(fd); /* unlocks too */
    run_restore_sigxfsz(&signals);
    errno = saved;
    return ok ? (int32_t)first : -1;
}
