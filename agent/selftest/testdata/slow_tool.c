/* A PMPI tool that holds calls of all threads but the first: when the library has returned, it posts slow_tool_returned, and waits for
 * slow_tool_continue. */
#define _GNU_SOURCE
#include <mpi.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

sem_t slow_tool_returned, slow_tool_continue;

static int hold(int rc)
{
    if (syscall(SYS_gettid) == getpid()) return rc;
    sem_post(&slow_tool_returned);
    while (sem_wait(&slow_tool_continue)) continue;
    return rc;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) { return hold(PMPI_Wait(request, status)); }
int MPI_Request_free(MPI_Request *request) { return hold(PMPI_Request_free(request)); }
