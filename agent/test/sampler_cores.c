/* sampler_cores SECONDS: calls no MPI until one of its threads may run on more cores than the first, or the time is over. Prints the number
 * of cores of the first thread and the largest number of any thread. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int cores_of(pid_t thread)
{
    cpu_set_t set;
    return sched_getaffinity(thread, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

int main(int argc, char **argv)
{
    struct dirent *entry;
    MPI_Init(&argc, &argv);
    time_t end = time(NULL) + atoi(argv[1]); /* not counting MPI_Init */
    int own = cores_of(0), most = 0;
    while (most <= own && time(NULL) < end) {
        DIR *threads = opendir("/proc/self/task");
        while ((entry = readdir(threads)))
            if (entry->d_name[0] != '.' && cores_of(atoi(entry->d_name)) > most) most = cores_of(atoi(entry->d_name));
        closedir(threads);
    }
    printf("%d %d\n", own, most);
    MPI_Finalize();
    return 0;
}
