#include "mpi/handles.h"

#include <stdio.h>

#include "mpi/epochs.h"
#include "mpi/library.h"

uint32_t epochs[EPOCHS];
uint64_t epochs_posted[EPOCHS];
uint64_t handles_world;
uint32_t epochs_of_types = 1;

#if defined(OPEN_MPI)
struct mpi_constants mpi_constants;
MPI_Datatype mpi_plain_types[PLAIN_TYPES];
void *mpi_returned[RETURNED_CONSTANTS];

static void bind_plain_types(void)
{
    /* Those that flags and counters have come first. */
    static const char *const names[PLAIN_TYPES] = {"int", "long", "int64_t", "uint64_t", "int32_t", "uint32_t",
                                                   "unsigned", "unsigned_long", "integer", "double", "byte", "char",
                                                   "c_bool", "aint", "long_long_int", "unsigned_long_long", "float",
                                                   "short", "unsigned_short", "signed_char", "unsigned_char", "int16_t",
                                                   "uint16_t", "int8_t", "uint8_t", "logical", "dblprec", "cxx_bool"};
    for (int i = 0; i < PLAIN_TYPES; i++) {
        char name[64];
        snprintf(name, sizeof name, "ompi_mpi_%s", names[i]);
        mpi_plain_types[i] = library_datum(name);
    }
}
#endif

void handles_bind(void)
{
#if defined(OPEN_MPI)
    mpi_constants.world = library_datum("ompi_mpi_comm_world");
    mpi_constants.self = library_datum("ompi_mpi_comm_self");
    mpi_constants.null_comm = library_datum("ompi_mpi_comm_null");
    mpi_constants.null_request = library_datum("ompi_request_null");
    mpi_constants.null_datatype = library_datum("ompi_mpi_datatype_null");
    mpi_constants.null_win = library_datum("ompi_mpi_win_null");
    mpi_constants.null_group = library_datum("ompi_mpi_group_null");
    mpi_constants.null_info = library_datum("ompi_mpi_info_null");
    mpi_constants.no_op = library_datum("ompi_mpi_op_no_op");
    bind_plain_types();
    static const char *const returned[RETURNED_CONSTANTS] = {"ompi_request_null", "ompi_request_empty",
                                                             "ompi_mpi_group_empty", "ompi_message_no_proc",
                                                             "ompi_mpi_info_null"};
    for (int i = 0; i < RETURNED_CONSTANTS; i++) mpi_returned[i] = library_datum(returned[i]);
#endif
    handles_world = HANDLE_NUMBER(COMM_WORLD);
}
