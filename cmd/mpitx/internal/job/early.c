//go:build cgo && linux

/* early.c: starts the back end of the stage after MPI_Init before Go's runtime and packages have started here: that takes milliseconds
 * in each process, and so they pass side by side. It is a back end as spawn (child.go) starts one. It waits for its request; where
 * the command turns out to need none it ends with this process, unheard. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int early_pid = -1, early_to, early_from; /* -1: there is none; our ends of its pipes */

static bool begins(const char *text, const char *const *with)
{
    for (; *with; with++)
        if (strncmp(text, *with, strlen(*with)) == 0)
            return true;
    return false;
}

/* Guesses whether a command will read a live MPI in this process's children. */
static bool reads_live(int argc, char **argv)
{
    static const char *const commands[] = {"list", "show", "read", "write", "snapshot", NULL};
    static const char *const others[] = {"-n", "-h", "--help", "--from", "--ranks", NULL};
    if (argc < 2 || !begins(argv[1], commands))
        return false;
    for (int i = 2; i < argc; i++)
        if (begins(argv[i], others))
            return false;
    return true;
}

static bool standard_streams(void)
{
    return fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
}

static char **environment_with(char *more)
{
    size_t n = 0;
    while (environ[n])
        n++;
    char **all = malloc((n + 2) * sizeof *all);
    if (all) {
        memcpy(all, environ, n * sizeof *all);
        all[n] = more;
        all[n + 1] = NULL;
    }
    return all;
}

__attribute__((constructor)) static void start(int argc, char **argv)
{
    char exe[4096] = "", fd[16];
    int in[2], out[2];
    volatile bool failed = false; /* the child of vfork writes into our memory */
    if (!reads_live(argc, argv) || !standard_streams() || readlink("/proc/self/exe", exe, sizeof exe - 1) <= 0)
        return;
    char **environment = environment_with("GOMAXPROCS=1");
    if (!environment || pipe2(in, O_CLOEXEC) != 0)
        return;
    if (pipe2(out, O_CLOEXEC) != 0) {
        close(in[0]);
        close(in[1]);
        return;
    }
    fcntl(out[0], F_SETPIPE_SZ, 1 << 20);
    snprintf(fd, sizeof fd, "%d", out[1]);
    char *arguments[] = {exe, "backend", "after", fd, NULL};
    early_pid = vfork();
    if (early_pid == 0) {
        if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && dup2(in[0], 0) == 0 && dup2(2, 1) == 1 && fcntl(out[1], F_SETFD, 0) == 0)
            execve(exe, arguments, environment);
        failed = true;
        _exit(127);
    }
    free(environment);
    close(in[0]);
    close(out[1]);
    early_to = in[1];
    early_from = out[0];
    if (failed)
        waitpid(early_pid, NULL, 0);
    if (failed || early_pid < 0) {
        close(early_to);
        close(early_from);
        early_pid = -1;
    }
}
