/* sampler_exec HOW PROGRAM ARGUMENT…: executes a program "before" MPI_Init, "after" MPI_Finalize or "instead" of MPI_Finalize; or starts it
 * as a "child", which is a separate job, or as a "copy" with the environment from before MPI_Init. Without a program: "flood" makes 20000
 * calls at once, then 5000 that leave time to write samples. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void talk(int rounds, useconds_t pause)
{
    int rank, in, out = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < rounds; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (pause) usleep(pause);
    }
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    if (argc > 2 && strcmp(how, "before") == 0) execv(argv[2], argv + 2);
    char *before[1000];
    int variables = 0;
    for (char **e = environ; *e && variables < 999; e++) before[variables++] = strdup(*e);
    before[variables] = NULL;
    MPI_Init(&argc, &argv);
    if (strcmp(how, "flood") == 0) {
        talk(20000, 0);
        talk(5000, 100);
    }
    talk(200, 100);
    if (strcmp(how, "child") == 0) {
        int status;
        char path[4200], *environment[] = {path, "HOME=/tmp", NULL};
        snprintf(path, sizeof path, "PATH=%s", getenv("PATH"));
        pid_t pid = fork();
        if (pid == 0) {
            const char *preload = getenv("LD_PRELOAD");
            if (preload || getenv("MPITX_AGENT")) _exit(9);
            execve(argv[2], argv + 2, environment);
            _exit(8);
        }
        waitpid(pid, &status, 0);
        printf("child %d\n", WEXITSTATUS(status));
        fflush(stdout);
    }
    if (strcmp(how, "copy") == 0) {
        int status;
        pid_t pid = fork();
        if (pid == 0) {
            execve(argv[2], argv + 2, before);
            _exit(8);
        }
        waitpid(pid, &status, 0);
    }
    if (strcmp(how, "instead") == 0) execv(argv[2], argv + 2);
    MPI_Finalize();
    if (strcmp(how, "after") == 0) execv(argv[2], argv + 2);
    return 0;
}
