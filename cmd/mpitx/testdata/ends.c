/* ends.c: HOW RANK: this rank (-1: each) ends so; the others wait for it. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, who = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (who < 0 || who == rank) {
        if (strcmp(argv[1], "exit") == 0) exit(3);
        if (strcmp(argv[1], "abort") == 0) {
            signal(SIGABRT, SIG_DFL);
            abort();
        }
        if (strcmp(argv[1], "MPI_Abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    }
    if (strcmp(argv[1], "finalize") != 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 4;
}
