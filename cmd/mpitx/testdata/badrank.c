/* Preloaded into a job, makes one rank of a real MPI hang or die while it reads its variables, after MPI_Init: at its first fork,
   with which mpitx tries variables. BAD_RANK says which, BAD_END what: hang, or die. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

pid_t fork(void)
{
    pid_t (*next)(void) = (pid_t (*)(void))dlsym(RTLD_NEXT, "fork");
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *bad = getenv("BAD_RANK"), *end = getenv("BAD_END");
    if (rank == NULL)
        rank = getenv("PMI_RANK");
    if (rank != NULL && bad != NULL && end != NULL && strcmp(rank, bad) == 0) {
        if (strcmp(end, "die") == 0)
            _exit(7);
        for (;;)
            pause();
    }
    return next();
}
