/* family.h: the differences between MPI families beyond mpi.h's declarations, and the lookup of a loaded library's symbols. The shim
 * and the agent share it. Both are compiled with a family's mpi.h but not linked to its library. */
#ifndef MPITX_FAMILY_H
#define MPITX_FAMILY_H

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

/* NEW_… are constants that older versions of the family's mpi.h lack. So are CB_SAFETIES, MPI_T_CB_REQUIRE_NONE to
 * MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, and SOURCE_ORDERS, MPI_T_SOURCE_ORDERED and MPI_T_SOURCE_UNORDERED. */
#if defined(OPEN_MPI)
#define FAMILY "openmpi"
#define MISSING_HANDLE void * /* the type of handles missing in this mpi.h */
#define NEW_BIND_MPI_SESSION 11
#define NEW_ERR_NOT_ACCESSIBLE 81
#define NEW_ERR_NOT_SUPPORTED 82
#define CB_SAFETIES {0, 1, 2, 3}
#define SOURCE_ORDERS {0, 1}
/* MPI_INT and similar constants are addresses of data symbols. Naming them would link to the library. */
#define PREDEFINED(library, constant, symbol) ((__typeof__(constant))mpi_datum(library, symbol))
#elif defined(MPI_ABI_VERSION)
#define FAMILY "abi"
#define MISSING_HANDLE void *
#define NEW_BIND_MPI_SESSION MPI_T_BIND_MPI_SESSION
#define NEW_ERR_NOT_ACCESSIBLE MPI_T_ERR_NOT_ACCESSIBLE
#define NEW_ERR_NOT_SUPPORTED MPI_T_ERR_NOT_SUPPORTED
#define CB_SAFETIES {0x00, 0x03, 0x0f, 0x3f}
#define SOURCE_ORDERS {1, 2}
#define PREDEFINED(library, constant, symbol) constant
#elif defined(MPICH_VERSION) || defined(MPICH) || defined(MVAPICH2_VERSION) || defined(I_MPI_VERSION)
#define FAMILY "mpich"
#define MISSING_HANDLE int
#define MPICH_LAYOUT 1 /* the MPICH ABI's handles and statuses */
#define NEW_BIND_MPI_SESSION 9711
#define NEW_ERR_NOT_ACCESSIBLE 79
#define NEW_ERR_NOT_SUPPORTED 78
#define CB_SAFETIES {0, 1, 2, 3}
#define SOURCE_ORDERS {0, 1}
#define ERROR_CLASS_MASK 0x7f
#define PREDEFINED(library, constant, symbol) constant
#else
#error "unknown mpi.h: mpitx supports Open MPI, MPICH and its derivatives, and the MPI-5 standard ABI"
#endif

static const int mpi_thread_levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE};

/* Returns the library's PMPI_X, or MPI_X if it has only that, or NULL. The name is "MPI_X". */
static inline void *mpi_routine(void *library, const char *name)
{
    char shifted[128];
    snprintf(shifted, sizeof shifted, "P%s", name);
    void *routine = dlsym(library, shifted);
    return routine ? routine : dlsym(library, name);
}

/* A program that names a data symbol of the library gets its own copy (R_X86_64_COPY), which the library then uses too. The global
 * scope finds that copy, but not libraries loaded with RTLD_LOCAL. */
static inline void *mpi_datum(void *library, const char *name)
{
    void *datum = dlsym(RTLD_DEFAULT, name);
    return datum ? datum : dlsym(library, name);
}

static inline bool mpi_is_openmpi(void *library) { return dlsym(library, "ompi_mpi_comm_world") != NULL; }

#endif
