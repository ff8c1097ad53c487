/* Somebody else's PMPI tool: counts what it sees, and asks MPI something of its own in every call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sends, ranks;

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    int size;
    ranks++;
    PMPI_Comm_size(comm, &size);
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    int size;
    sends++;
    PMPI_Type_size(type, &size);
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Finalize(void)
{
    printf("tool: %d sends %d ranks\n", sends, ranks);
    fflush(stdout);
    return PMPI_Finalize();
}
