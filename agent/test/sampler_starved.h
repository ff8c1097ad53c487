/* sampler_starved.h: how long the threads of this process were runnable without a processor, in milliseconds. */
#include <dirent.h>
#include <stdio.h>

static double starved(void)
{
    DIR *tasks = opendir("/proc/self/task");
    double total = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks)) != NULL;) {
        char path[300];
        unsigned long long run, wait = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
        FILE *f = fopen(path, "r");
        if (f && fscanf(f, "%llu %llu", &run, &wait) == 2)
            total += (double)wait / 1e6;
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return total;
}
