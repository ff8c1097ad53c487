/* pmpi.c: a PMPI wrapper as users write them: it counts sends, and passes them on through a function of its own. */
#include <mpi.h>

static long sends;

static __attribute__((noinline)) int pass_on(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int size;
    PMPI_Type_size(type, &size);
    sends++;
    int rc = PMPI_Send(buffer, count, type, to, tag, comm);
    return sends < 0 ? MPI_ERR_OTHER : rc;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int rc = pass_on(buffer, count, type, to, tag, comm);
    return sends < 0 ? MPI_ERR_OTHER : rc;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *made)
{
    int rc = PMPI_Comm_dup(comm, made);
    return *made == MPI_COMM_NULL ? MPI_ERR_OTHER : rc;
}

#ifdef OPEN_MPI /* else a macro */
MPI_Comm MPI_Comm_f2c(MPI_Fint number)
{
    MPI_Comm comm = PMPI_Comm_f2c(number);
    return sends < 0 ? MPI_COMM_NULL : comm;
}
#endif
