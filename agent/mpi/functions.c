#include "mpi/functions.h"

#include "mpi/library.h"
#include "mpi/peers.h"

const char library_family[] = FAMILY;
const struct library_errors library_errors = {MPI_ERR_ARG, MPI_ERR_OTHER};
struct mpi_functions mpi;
#if defined(OPEN_MPI)
struct mpi_constants mpi_constants;
#endif

bool library_is_initialized(void)
{
    int initialized = 0;
    return mpi.Initialized && mpi.Initialized(&initialized) == MPI_SUCCESS && initialized;
}

void library_bind(void)
{
#define X(name) mpi.name = (__typeof__(mpi.name))library_function("MPI_" #name);
    MPI_FUNCTIONS(X)
#undef X
#if defined(OPEN_MPI)
    mpi_constants.world = library_datum("ompi_mpi_comm_world");
    mpi_constants.self = library_datum("ompi_mpi_comm_self");
    mpi_constants.null_comm = library_datum("ompi_mpi_comm_null");
    mpi_constants.null_request = library_datum("ompi_request_null");
    mpi_constants.null_datatype = library_datum("ompi_mpi_datatype_null");
    mpi_constants.null_win = library_datum("ompi_mpi_win_null");
    mpi_constants.null_info = library_datum("ompi_mpi_info_null");
    mpi_constants.no_op = library_datum("ompi_mpi_op_no_op");
    mpi.fills_exchanges = true;
#elif !defined(MPICH_LAYOUT)
    mpi.fills_exchanges = library_datum("ompi_mpi_init") != NULL;
#endif
    peers_world = HANDLE_NUMBER(COMM_WORLD);
}
