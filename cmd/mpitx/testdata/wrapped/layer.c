/* layer.c: an application's own layer over MPI, which exports no function of MPI. */
#include <mpi.h>

int layer_barrier(MPI_Comm comm)
{
    volatile int rc = MPI_Barrier(comm);
    return rc;
}

void layer_hang(MPI_Comm comm)
{
    int word;
    MPI_Recv(&word, 1, MPI_INT, 0, 99, comm, MPI_STATUS_IGNORE);
    layer_barrier(comm);
}
