/* sampler_pingpong SECONDS END: ranks 0 and 1 exchange 8 bytes. END is how rank 1 ends: finalize, exit (with 5), abort (with 6), kill (-9),
 * fork (a child that exits with 7 and children that call MPI_Initialized; then finalize). Prints round trips. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sampler_starved.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    double seconds = atof(argv[1]), start;
    const char *end = argv[2];
    int rank, go = 1;
    long trips = 0;
    char bytes[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD); /* the agent may start more slowly on one rank than on the other */
    double starved_before = starved();
    start = now();
    while (go && rank < 2) {
        if (rank == 0) {
            go = trips % 64 || now() - start < seconds;
            bytes[0] = (char)go;
            MPI_Send(bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(bytes, 8, MPI_CHAR, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            go = bytes[0];
            MPI_Send(bytes, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
        }
        trips++;
    }
    if (rank == 0)
        printf("%ld trips, %.0f ns\n", trips, (now() - start) / (double)trips * 1e9);
    printf("rank %d starved %.1f\n", rank, starved() - starved_before);
    fflush(stdout);
    if (strcmp(end, "fork") == 0) {
        int status, flag;
        for (int i = 0; i < 3; i++) {
            pid_t pid = fork();
            if (pid == 0) {
                MPI_Initialized(&flag);
                i == 0 ? exit(7) : _exit(7);
            }
            waitpid(pid, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
                printf("the child's status is %d\n", status);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (rank == 1) {
        if (strcmp(end, "exit") == 0)
            exit(5);
        if (strcmp(end, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 6);
        if (strcmp(end, "kill") == 0)
            kill(getpid(), SIGKILL);
    } else if (strcmp(end, "kill") == 0 || strcmp(end, "abort") == 0) {
        sleep(20);
    }
    MPI_Finalize();
    return 0;
}
