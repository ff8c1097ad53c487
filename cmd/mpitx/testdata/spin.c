// A program that never ends: spin before|in|after DIR. Each rank makes DIR/PID and spins before MPI_Init, in it (rank 0 never calls it), or
// after it. With "echo" instead, rank 0 prints what it reads.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void started(const char *dir)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%d", dir, (int)getpid());
    fclose(fopen(path, "w"));
}

static void spin(void)
{
    for (;;)
        usleep(1000);
}

int main(int argc, char **argv)
{
    const char *when = argv[1], *dir = argv[2];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    char line[100];
    if (!rank)
        rank = getenv("PMI_RANK");
    if (strcmp(when, "before") == 0 || (strcmp(when, "in") == 0 && strcmp(rank, "0") == 0)) {
        started(dir);
        spin();
    }
    if (strcmp(when, "in") == 0)
        started(dir);
    MPI_Init(&argc, &argv);
    if (strcmp(when, "after") == 0)
        started(dir);
    if (strcmp(rank, "0") == 0 && strcmp(when, "echo") == 0) {
        printf("ready\n");
        fflush(stdout);
        while (fgets(line, sizeof line, stdin)) {
            printf("read %s", line);
            fflush(stdout);
        }
    }
    if (strcmp(when, "echo") == 0) {
        MPI_Finalize();
        return 0;
    }
    spin();
}
