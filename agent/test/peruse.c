/* peruse: raises known numbers of PERUSE events on MPI_COMM_WORLD and on a communicator with the ranks in reverse order. With an argument,
 * it first registers a callback of its own for one of them, which then gets the events. */
#include <stdio.h>

#include "peruse_library.h"

static int own;

static int count(void *handle, MPI_Aint id, struct peruse_spec *spec, void *param)
{
    own++;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm reverse;
    int rank, size;
    void *handle;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
    if (argc > 1) {
        PERUSE_Event_comm_register(40 + PERUSE_UNEXPECTED, MPI_COMM_WORLD, count, NULL, &handle);
        PERUSE_Event_activate(handle);
    }
    for (int i = 0; i < 10; i++) peruse_raise(PERUSE_UNEXPECTED, MPI_COMM_WORLD, 1, 100 + i, 4);
    for (int i = 0; i < 5; i++) peruse_raise(PERUSE_UNEXPECTED, reverse, 0, 200 + i, 1);
    peruse_raise(PERUSE_OWN, MPI_COMM_WORLD, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
    peruse_raise(PERUSE_COMPLETE, MPI_COMM_SELF, 0, 3, 2);
    int active = peruse_active();
    MPI_Comm freed = reverse;
    MPI_Comm_free(&reverse);
    peruse_raise(PERUSE_UNEXPECTED, freed, 0, 200, 1);
    printf("active %d, then %d, own %d\n", active, peruse_active(), own);
    MPI_Finalize();
    printf("at the end %d\n", peruse_active());
    return 0;
}
