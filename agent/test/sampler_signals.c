/* sampler_signals: prints a * for each thread that SIGUSR1 could reach, and the signals that are handled or ignored. The agent's threads must
 * not change that. */
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads a mask of /proc/self/task/ID/status. */
static unsigned long long mask_of(const char *task, const char *field)
{
    char path[300], line[256];
    unsigned long long mask = 0;
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, field, strlen(field)) == 0)
            mask = strtoull(line + strlen(field), NULL, 16);
    if (f) fclose(f);
    return mask;
}

int main(int argc, char **argv)
{
    int rank, in, out = 1;
    char self[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 200; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(100);
    }
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *e; (e = readdir(tasks));)
        if (e->d_name[0] != '.' && !(mask_of(e->d_name, "SigBlk:") >> (SIGUSR1 - 1) & 1)) putchar('*');
    closedir(tasks);
    snprintf(self, sizeof self, "%d", (int)getpid());
    for (int s = 1; s <= 64; s++) {
        if (mask_of(self, "SigCgt:") >> (s - 1) & 1) printf(" handled: %s", strsignal(s));
        if (mask_of(self, "SigIgn:") >> (s - 1) & 1) printf(" ignored: %s", strsignal(s));
    }
    putchar('\n');
    MPI_Finalize();
    return 0;
}
