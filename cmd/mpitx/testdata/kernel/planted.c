/* planted.c: preloaded, it makes a program's MPI_Scatter slow and its MPI_Gather wrong; the last rank dies in MPI_Scan. Everything but MPI_Scatter is
 * changed only if PLANTED is set. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Scatter(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype other, int root, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1) usleep(20000);
    return PMPI_Scatter(in, n, type, out, m, other, root, comm);
}

int MPI_Gather(const void *in, int n, MPI_Datatype type, void *out, int m, MPI_Datatype other, int root, MPI_Comm comm)
{
    int rank, result = PMPI_Gather(in, n, type, out, m, other, root, comm);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root && getenv("PLANTED")) ((char *)out)[0] ^= 1;
    return result;
}

int MPI_Scan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 1 && getenv("PLANTED")) _exit(3);
    return PMPI_Scan(in, out, n, type, op, comm);
}
