/* sampler_cost BATCHES SAMPLES VARIABLES: measures BATCHES times with sampler_inside.c, with pauses. Prints for each batch the nanoseconds of
 * the bare loop over the variables and of a sample of them; nothing if their number is not VARIABLES. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int (*inside)(int, double *, double *) = (int (*)(int, double *, double *))dlsym(RTLD_DEFAULT, "agenttest_inside");
    double bare, sample;
    MPI_Init(&argc, &argv);
#ifdef MPICH
    MPI_Win win; /* the first window adds some of its variables */
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
    MPI_Win_free(&win);
#endif
    for (int i = 0; inside && i < atoi(argv[1]); i++) {
        usleep(1000); /* records are written to the disk meanwhile */
        if (inside(atoi(argv[2]), &bare, &sample) == atoi(argv[3])) printf("%.1f %.1f\n", bare, sample);
    }
    MPI_Finalize();
    return 0;
}
