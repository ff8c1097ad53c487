/* Another PMPI tool: counts the calls that it sees, and calls MPI itself in each of them. */
#include <mpi.h>
#include <stdarg.h>
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

int MPI_Pcontrol(const int level, ...)
{
    va_list more;
    va_start(more, level);
    const char *word = level == 7 ? va_arg(more, const char *) : "";
    double number = level == 7 ? va_arg(more, double) : 0;
    long last = level == 7 ? va_arg(more, long) : 0;
    va_end(more);
    printf("tool: level %d %s %g %ld\n", level, word, number, last);
    return PMPI_Pcontrol(level);
}

int MPI_Finalize(void)
{
    printf("tool: %d sends %d ranks\n", sends, ranks);
    fflush(stdout);
    return PMPI_Finalize();
}
