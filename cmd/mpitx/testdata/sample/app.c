/* app.c: an application that ends in all kinds of ways: app HOW [RANK]. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void count(int s)
{
    (void)s;
    signals++;
}

/* What keeps the agent from writing to the run directory. */
static void leave(const char *how)
{
    struct rlimit nothing = {0, 0};
    if (strcmp(how, "limit") == 0 && setrlimit(RLIMIT_FSIZE, &nothing)) exit(9);
    if (strcmp(how, "remove") == 0 && system("rm -rf removed")) exit(9);
    if (strcmp(how, "chroot") == 0 && chroot(".")) exit(9);
    if (strcmp(how, "setuid") == 0 && setuid(65534)) exit(9);
    if (strcmp(how, "seteuid") == 0 && seteuid(65534)) exit(9);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int who = argc > 2 ? atoi(argv[2]) : 0, rank, word = 0;
    signal(SIGUSR1, count);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 100; i++) {
        MPI_Bcast(&word, 1, MPI_INT, 0, MPI_COMM_WORLD);
        usleep(500);
        if (i == 50) leave(how);
    }
    if (strcmp(how, "wait") == 0) {
        if (rank == 0) {
            FILE *f = fopen("ready", "w");
            if (f) fclose(f);
        }
        for (int i = 0; i < 300 && !signals; i++) usleep(100000);
        usleep(300000);
        printf("signals: %d\n", (int)signals);
    } else if (strcmp(how, "sleep") == 0) {
        usleep(500000);
    } else if (strcmp(how, "cat") == 0) {
        char line[100];
        if (rank == 0 && fgets(line, sizeof line, stdin)) printf("read %s", line);
    } else if (strcmp(how, "env") == 0) {
        system("env");
    } else if (rank == who) {
        if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(how, "kill") == 0) raise(SIGKILL);
        if (strcmp(how, "exit") == 0) exit(7);
        if (strcmp(how, "first") == 0) raise(SIGKILL);
    } else if (strcmp(how, "first") == 0) {
        for (;;) pause();
    }
    printf("LD_PRELOAD=%s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return strcmp(how, "code") == 0 ? 5 : 0;
}
