/* handles.h: the library's constants, and handles as numbers. With mpi.h. */
#ifndef MPITX_HANDLES_H
#define MPITX_HANDLES_H

#include "binding/shim/family.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Handles that are the addresses of the library's data in Open MPI: naming them would link the agent to the library. */
#if defined(OPEN_MPI)
struct mpi_constants {
    MPI_Comm world, self, null_comm;
    MPI_Request null_request;
    MPI_Datatype null_datatype;
    MPI_Win null_win;
    MPI_Group null_group;
    MPI_Info null_info;
    MPI_Op no_op;
};
extern struct mpi_constants mpi_constants;
enum { PLAIN_TYPES = 28 };
extern MPI_Datatype mpi_plain_types[PLAIN_TYPES]; /* predefined types without gaps; NULL: the library has none */
enum { RETURNED_CONSTANTS = 5 };
extern void *mpi_returned[RETURNED_CONSTANTS]; /* predefined handles that functions return which make objects */
#define COMM_WORLD mpi_constants.world
#define COMM_SELF mpi_constants.self
#define NULL_COMM mpi_constants.null_comm
#define NULL_REQUEST mpi_constants.null_request
#define NULL_DATATYPE mpi_constants.null_datatype
#define NULL_WIN mpi_constants.null_win
#define NULL_GROUP mpi_constants.null_group
#define NULL_INFO mpi_constants.null_info
#define NO_OP mpi_constants.no_op
#else
#define COMM_WORLD MPI_COMM_WORLD
#define COMM_SELF MPI_COMM_SELF
#define NULL_COMM MPI_COMM_NULL
#define NULL_REQUEST MPI_REQUEST_NULL
#define NULL_DATATYPE MPI_DATATYPE_NULL
#define NULL_WIN MPI_WIN_NULL
#define NULL_GROUP MPI_GROUP_NULL
#define NULL_INFO MPI_INFO_NULL
#define NO_OP MPI_NO_OP
#endif

#define HANDLE_NUMBER(handle)                                                                                          \
    (sizeof(handle) == 4 ? (uint64_t)(uint32_t)(uintptr_t)(handle) : (uint64_t)(uintptr_t)(handle))

void handles_bind(void);

#pragma GCC visibility pop

#endif
