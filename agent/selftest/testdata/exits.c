/* Ends in the way that the argument names, after a line on stdout and one on stderr. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    printf("out\n");
    fflush(stdout);
    fprintf(stderr, "err\n");
    if (strcmp(how, "segv") == 0) {
        signal(SIGSEGV, SIG_DFL); /* no backtrace with addresses */
        raise(SIGSEGV);
    }
    if (strcmp(how, "kill") == 0) kill(getpid(), SIGKILL);
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
    if (strcmp(how, "unfinished") == 0) exit(0);
    if (strcmp(how, "environment") == 0) {
        fflush(stdout);
        if (system("env | grep -c -e ^MPITX_AGENT -e ^LD_PRELOAD") != 0) puts("clean");
    }
    MPI_Finalize();
    return strcmp(how, "three") == 0 ? 3 : 0;
}
