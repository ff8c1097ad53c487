/* winner.c: preloaded, it makes MPI_Bcast on the kernel's communicators slow, unless the algorithm is forced to number WINNER of the environment (slowest
 * if none is forced), and a little slow without segments of SEGMENT bytes. So one algorithm wins for certain, also on a busy machine. Open MPI takes the algorithm when a communicator is made,
 * MPICH in each call. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 4096 };
static struct { MPI_Comm comm; int value, segment; } made[MOST];
static int count;

static int value_of(const char *name)
{
    MPI_T_cvar_handle handle;
    int index, elements, value = -1;
    if (PMPI_T_cvar_get_index(name, &index) != MPI_SUCCESS || PMPI_T_cvar_handle_alloc(index, NULL, &handle, &elements) != MPI_SUCCESS) return -1;
    PMPI_T_cvar_read(handle, &value);
    PMPI_T_cvar_handle_free(&handle);
    return value;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *out)
{
    int value = value_of("coll_tuned_bcast_algorithm"), segment = value_of("coll_tuned_bcast_algorithm_segmentsize"), result = PMPI_Comm_dup(comm, out);
    if (count < MOST) {
        made[count].comm = *out;
        made[count].value = value;
        made[count++].segment = segment;
    }
    return result;
}

int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, rank, value = -1, segment = -1;
    const char *winner = getenv("WINNER"), *of = getenv("SEGMENT");
    PMPI_Comm_get_name(comm, name, &length);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; i < count; i++)
        if (made[i].comm == comm) value = made[i].value, segment = made[i].segment;
#ifdef MPICH_VERSION
    value = value_of("MPIR_CVAR_BCAST_INTRA_ALGORITHM");
#endif
    if (winner && rank == 1 && strncmp(name, "kernel ", 7) == 0) {
        if (value != atoi(winner)) usleep(value > 0 ? 80000 : 200000);
        else if (of && segment != atoi(of)) usleep(25000);
    }
    return PMPI_Bcast(buffer, n, type, root, comm);
}
