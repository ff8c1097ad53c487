/* Prints which functions of MPI it finds: by weak references of the program, by those of a library of its (-DLIBRARY), and by dlsym.
 * names.h has NAME(MPI_X) for each. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

struct found {
    const char *name;
    int (*function)(void);
};
extern struct found theirs[];

#define NAME(name) extern int name(void) __attribute__((weak));
#include "names.h"
#undef NAME
#define NAME(name) {#name, name},
#ifdef LIBRARY
struct found theirs[] = {
#else
static struct found own[] = {
#endif
#include "names.h"
    {0, 0}};

#ifndef LIBRARY
int main(int argc, char **argv)
{
    for (struct found *f = own; f->name; f++)
        if (f->function) printf("program %s\n", f->name);
    for (struct found *f = theirs; f->name; f++)
        if (f->function) printf("library %s\n", f->name);
    for (struct found *f = own; f->name; f++)
        if (dlsym(RTLD_DEFAULT, f->name)) printf("dlsym %s\n", f->name);
    fflush(stdout);
    ((int (*)(int *, char ***))(void *)MPI_Init)(&argc, &argv);
    MPI_Finalize();
    return 0;
}
#endif
