/* session_tool.c: a tool after the agent that holds every MPI_Session_init and MPI_Session_finalize until eight are waiting. */
#include <mpi.h>
#include <stdatomic.h>
#include <unistd.h>

#if MPI_VERSION >= 4
static atomic_int opened, closed;

static void meet(atomic_int *count)
{
    atomic_fetch_add(count, 1);
    while (atomic_load(count) < 8) usleep(100);
}

int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    meet(&opened);
    return PMPI_Session_init(info, handler, session);
}

int MPI_Session_finalize(MPI_Session *session)
{
    meet(&closed);
    return PMPI_Session_finalize(session);
}
#endif
