/* Preloaded into a job, makes one rank of a real MPI hang or die while it reads its variables, after MPI_Init: when it first
   copies itself, to try variables (binding/clone.c). BAD_RANK says which, BAD_END what: hang, or die. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GET_TID_ADDRESS = 40 }; /* what clone_process asks for first */

int prctl(int operation, ...)
{
    int (*next)(int, ...) = (int (*)(int, ...))dlsym(RTLD_NEXT, "prctl");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *bad = getenv("BAD_RANK"), *end = getenv("BAD_END");
    unsigned long a[4];
    va_list arguments;
    va_start(arguments, operation);
    for (int i = 0; i < 4; i++) a[i] = va_arg(arguments, unsigned long);
    va_end(arguments);
    if (rank == NULL)
        rank = getenv("PMI_RANK");
    if (operation == GET_TID_ADDRESS && rank != NULL && bad != NULL && end != NULL && strcmp(rank, bad) == 0) {
        if (strcmp(end, "die") == 0)
            _exit(7);
        for (;;)
            pause();
    }
    return next(operation, a[0], a[1], a[2], a[3]);
}
