/* grow.c: uses 100 MB more memory, and then calls MPI_Barrier until it gets SIGUSR1. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void tell(int signal) { told = signal; }

int main(int argc, char **argv)
{
    signal(SIGUSR1, tell);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(malloc(100000000), 1, 100000000);
    while (!told) {
        MPI_Barrier(MPI_COMM_WORLD);
        usleep(1000); /* gives the core to others */
    }
    MPI_Finalize();
    return 0;
}
