/* sampler_nested LEVELS exit|finalize: nests LEVELS calls of MPI_Comm_delete_attr in callbacks. "exit" ends by _exit after more samples. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int nest(MPI_Comm comm, int keyval, void *levels, void *extra)
{
    int next;
    if (levels) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nest, &next, NULL);
        MPI_Comm_set_attr(comm, next, (void *)((intptr_t)levels - 1));
        MPI_Comm_delete_attr(comm, next);
    }
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    int keyval, flag;
    struct timespec now, start;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, nest, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void *)(intptr_t)atoi(argv[1]));
    MPI_Comm_delete_attr(MPI_COMM_SELF, keyval);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 1000; i++) MPI_Initialized(&flag);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - start.tv_sec < 2 && (now.tv_sec - start.tv_sec) * 1000000000L + now.tv_nsec - start.tv_nsec < 200000000);
    if (strcmp(argv[2], "exit") == 0) _exit(0);
    MPI_Finalize();
    return 0;
}
