/* flood N PAUSE: each rank makes N calls of MPI_Sendrecv with itself, each a call, a send and a receive in a trace, PAUSE microseconds
 * apart. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1, in, out = 1;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < n; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, 0, i % 1000, &in, 1, MPI_INT, 0, i % 1000, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (argc > 2) usleep((useconds_t)atoi(argv[2]));
    }
    MPI_Finalize();
    puts("done");
    return 0;
}
