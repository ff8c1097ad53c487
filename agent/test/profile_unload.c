/* profile_unload.c: a library that calls MPI and is unloaded again. Compiled twice: with -DPLUGIN, the library. */
#include <mpi.h>

#ifdef PLUGIN

int in_plugin(void)
{
    return MPI_Barrier(MPI_COMM_SELF) + 1; /* no tail call */
}

#else

#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static int mapped(const char *path)
{
    char line[4096];
    int found = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (file && fgets(line, sizeof line, file)) found |= strstr(line, path) != NULL;
    if (file) fclose(file);
    return found;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    void *plugin = dlopen(argv[1], RTLD_NOW);
    ((int (*)(void))dlsym(plugin, "in_plugin"))();
    printf("mapped %d", mapped(argv[1]));
    dlclose(plugin);
    printf(" %d\n", mapped(argv[1]));
    fflush(stdout);
    if (strcmp(argv[2], "kill") == 0) raise(SIGKILL);
    MPI_Finalize();
    return 0;
}

#endif
