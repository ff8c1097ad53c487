/* A PMPI tool that returns slowly in all threads but the first. */
#define _GNU_SOURCE
#include <mpi.h>
#include <sys/syscall.h>
#include <unistd.h>

static int slowly(int rc)
{
    if (syscall(SYS_gettid) != getpid()) usleep(200000);
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) { return slowly(PMPI_Wait(request, status)); }
int MPI_Request_free(MPI_Request *request) { return slowly(PMPI_Request_free(request)); }
