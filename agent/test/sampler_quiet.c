/* sampler_quiet PHASES MS: computes for MS milliseconds and calls MPI_Comm_rank once, PHASES times; then computes as long again in a
 * callback of MPI_Reduce_local. Prints the start and end of each call in nanoseconds of CLOCK_REALTIME, and how often other threads of this
 * process woke up while it computed. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile double x = 1;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void compute(int ms)
{
    for (long long end = now() + ms * 1000000LL; now() < end;) x = x * 1.0000001 + 1e-9;
}

static int milliseconds;

static void slow(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
    compute(milliseconds);
}

static long wakes(void)
{
    struct dirent *entry;
    long all = 0, one;
    DIR *threads = opendir("/proc/self/task");
    while ((entry = readdir(threads))) {
        char path[300], line[256];
        if (entry->d_name[0] == '.' || atoi(entry->d_name) == (int)getpid()) continue;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file))
            if (sscanf(line, "voluntary_ctxt_switches: %ld", &one) == 1) all += one;
        if (file) fclose(file);
    }
    closedir(threads);
    return all;
}

int main(int argc, char **argv)
{
    int phases = atoi(argv[1]), rank, one = 1, two = 2;
    MPI_Op op;
    milliseconds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Op_create(slow, 1, &op);
    for (int i = 0; i < phases; i++) {
        long before = wakes();
        compute(milliseconds);
        long woken = wakes() - before;
        long long enter = now();
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        printf("call %lld %lld %ld\n", enter, now(), woken);
    }
    MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
    MPI_Finalize();
    return 0;
}
