/* Another PMPI tool whose wrappers end in jumps, as optimising compilers produce them. One function forwards to another. */
#include <mpi.h>
#include <stdio.h>

static int sends, ranks, sizes;

#pragma GCC optimize("O2", "optimize-sibling-calls")

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    ranks++;
    return PMPI_Comm_rank(comm, rank);
}

int MPI_Send(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Isend(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Issend(buf, count, type, dest, tag, comm, request);
}

int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return PMPI_Irecv(buf, count, type, source, tag, comm, request);
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    return PMPI_Wait(request, status);
}

int MPI_Type_size(MPI_Datatype type, int *size)
{
    sizes++;
    return PMPI_Type_size(type, size);
}

int MPI_Reduce_local(const void *in, void *inout, int count, MPI_Datatype type, MPI_Op op)
{
    return PMPI_Reduce_local(in, inout, count, type, op);
}

int MPI_Finalize(void)
{
    printf("tool: %d sends %d ranks %d sizes\n", sends, ranks, sizes);
    fflush(stdout);
    return PMPI_Finalize();
}
