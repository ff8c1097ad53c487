/* Two plugins that are linked to different MPI libraries, loaded locally. The second one loads the third. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*run[3])(int, const char *);
    for (int i = 1; i < 3; i++) {
        void *plugin = dlopen(argv[i], RTLD_LOCAL | (i == 1 ? RTLD_NOW : RTLD_LAZY));
        if (!plugin) {
            puts(dlerror());
            return 2;
        }
        run[i] = (int (*)(int, const char *))dlsym(plugin, "run");
    }
    for (int stage = 0; stage < 3; stage++)
        for (int i = 1; i < 3; i++) {
            int rc = run[i](stage, argv[i + 2]);
            if (rc) {
                printf("%s, stage %d: %d\n", argv[i], stage, rc);
                return 1;
            }
        }
    puts("done");
    return 0;
}
