/* sampler_parent: spawns a process of itself with the same agent, which calls MPI_Comm_get_parent three times, disconnects from the parent,
 * and continues for a while. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *variable(const char *name)
{
    char *text;
    return getenv(name) && asprintf(&text, "%s=%s", name, getenv(name)) > 0 ? text : "NONE=";
}

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        char *arguments[] = {variable("MPITX_AGENT"), variable("LD_PRELOAD"), argv[0], NULL};
        MPI_Comm_spawn("env", arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&child);
    } else {
        MPI_Comm_disconnect(&parent);
        for (int i = 0; i < 100; i++) {
            usleep(2000);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        printf("the child ends\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
