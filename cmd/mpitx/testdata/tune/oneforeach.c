/* oneforeach.c: preloaded, it makes Open MPI's algorithms of MPI_Bcast slow for messages of 2 and of 16384 elements, but binomial for the first and
 * chain for the second. The component tuned calls these functions of the library by their names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>

typedef int algorithm(void *, int, void *, int, void *, void *, unsigned, int);

#define WRAP(name, fast)                                                                                                                \
    int ompi_coll_base_bcast_intra_##name(void *buffer, int n, void *type, int root, void *comm, void *module, unsigned segment, int k) \
    {                                                                                                                                   \
        static algorithm *next;                                                                                                         \
        if (!next) next = (algorithm *)dlsym(RTLD_NEXT, "ompi_coll_base_bcast_intra_" #name);                                           \
        if ((n == 2 || n == 16384) && n != (fast)) usleep(3000);                                                                        \
        return next(buffer, n, type, root, comm, module, segment, k);                                                                   \
    }

WRAP(basic_linear, 0)
WRAP(binomial, 2)
WRAP(bintree, 0)
WRAP(chain, 16384)
WRAP(knomial, 0)
WRAP(pipeline, 0)
WRAP(scatter_allgather, 0)
WRAP(scatter_allgather_ring, 0)
WRAP(split_bintree, 0)
