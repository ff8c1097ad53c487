/* describe_internal.h: what the parts of the description share.
 *
 *     describe.c             the library's functions and constants; the process; sizes and statuses; RMA; objects
 *     describe_requests.c    requests that are started, kept, completed
 *     describe_collectives.c what collective calls move */
#ifndef MPITX_DESCRIBE_INTERNAL_H
#define MPITX_DESCRIBE_INTERNAL_H

#include "mpi/describe.h"

#pragma GCC visibility push(hidden)

/* The library's own functions, found once. */
struct describe_library {
    int (*Type_size)(MPI_Datatype, int *);
    int (*Type_size_x)(MPI_Datatype, MPI_Count *);
    int (*Comm_rank)(MPI_Comm, int *);
    int (*Comm_size)(MPI_Comm, int *);
    int (*Comm_remote_size)(MPI_Comm, int *);
    int (*Comm_test_inter)(MPI_Comm, int *);
    int (*Topo_test)(MPI_Comm, int *);
    int (*Cartdim_get)(MPI_Comm, int *);
    int (*Cart_shift)(MPI_Comm, int, int, int *, int *);
    int (*Graph_neighbors_count)(MPI_Comm, int, int *);
    int (*Dist_graph_neighbors_count)(MPI_Comm, int *, int *, int *);
    int (*Query_thread)(int *);
    int (*Initialized)(int *);
    int (*Get_elements_x)(const MPI_Status *, MPI_Datatype, MPI_Count *);
    int (*Test_cancelled)(const MPI_Status *, int *);
    bool fills_exchanges; /* statuses of MPI_Isendrecv are of its receive; MPICH leaves in them what was there */
};

extern struct describe_library describe_library;

#pragma GCC visibility pop

#endif
