/* Ten calls of MPI_Comm_rank and three sends to itself, in a plugin or in a program. */
#include <mpi.h>
#include <stdio.h>

int run(void)
{
    int rank, value = 1, other;
    MPI_Request request;
    MPI_Init(NULL, NULL);
    for (int i = 0; i < 10; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&other, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
        MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    puts("done");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#ifndef PLUGIN
int main(void) { return run(); }
#endif
