/* sampler_quiet PHASES US CALLS: computes for US microseconds and calls MPI_Comm_rank CALLS times, PHASES times; then computes as long again
 * in a callback of MPI_Reduce_local. Prints the start of each phase's first call and the end of its last one in nanoseconds of
 * CLOCK_REALTIME, and how often other threads of this process have woken up. */
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

static void compute(int us)
{
    for (long long end = now() + us * 1000LL; now() < end;) x = x * 1.0000001 + 1e-9;
}

static int microseconds;

static void slow(void *in, void *inout, int *len, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)len, (void)type;
    compute(microseconds);
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
    int phases = atoi(argv[1]), calls = atoi(argv[3]), rank, one = 1, two = 2;
    long long *enter = calloc(phases, sizeof *enter), *leave = calloc(phases, sizeof *leave);
    long *woken = calloc(phases, sizeof *woken);
    MPI_Op op;
    microseconds = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Op_create(slow, 1, &op);
    for (int i = 0; i < phases; i++) {
        compute(microseconds);
        if (calls == 1 || i == phases - 1) woken[i] = wakes();
        enter[i] = now();
        for (int k = 0; k < calls; k++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        leave[i] = now();
    }
    MPI_Reduce_local(&one, &two, 1, MPI_INT, op);
    for (int i = 0; i < phases; i++) printf("phase %lld %lld %ld\n", enter[i], leave[i], woken[i]);
    MPI_Finalize();
    return 0;
}
