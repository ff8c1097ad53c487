/* Loads MPI late, as Python does: by a plugin that is linked to it. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    return ((int (*)(void))dlsym(plugin, "run"))();
}
