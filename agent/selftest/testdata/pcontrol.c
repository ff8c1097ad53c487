/* Levels with further arguments. One process. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int value = 1, other;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Pcontrol(1);
    MPI_Pcontrol(7, "word", 2.5, 44L);
    MPI_Irecv(&other, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Pcontrol(7, "again", -1.0, 45L);
    MPI_Finalize();
    return 0;
}
