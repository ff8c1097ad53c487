/* peruse: raises known numbers of PERUSE events on MPI_COMM_WORLD and on a communicator with the ranks in reverse order: peruse [own]. With
 * own, it first registers a callback of its own for one of them, which then gets the events. peruse propagate: on MPI_COMM_WORLD and
 * duplicates of it, with such a callback that is propagated. */
#include <stdio.h>

#include "peruse_library.h"

static int own;

static int count(void *handle, MPI_Aint id, struct peruse_spec *spec, void *param)
{
    own++;
    return 0;
}

/* Raises one event each time. Says how many have come. */
static void raise_some(int n, MPI_Comm comm)
{
    for (int i = 0; i < n; i++) peruse_raise(PERUSE_UNEXPECTED, comm, 0, 1, 1);
    printf(" %d", own);
}

static void propagate(void)
{
    MPI_Comm copy, copy_of_copy, late;
    void *handle, *other;
    PERUSE_Event_comm_register(40 + PERUSE_UNEXPECTED, MPI_COMM_WORLD, count, NULL, &handle);
    printf("own %d", PERUSE_Event_propagate(handle, 1));
    PERUSE_Event_activate(handle);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_dup(copy, &copy_of_copy);
    raise_some(10, MPI_COMM_WORLD);
    raise_some(5, copy);
    raise_some(3, copy_of_copy);
    PERUSE_Event_deactivate(handle);
    raise_some(2, copy); /* only the agent gets them */
    PERUSE_Event_propagate(handle, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &late);
    PERUSE_Event_activate(handle);
    raise_some(4, late);
    PERUSE_Event_comm_register(40 + PERUSE_UNEXPECTED, copy, count, NULL, &other);
    PERUSE_Event_activate(other);
    raise_some(6, copy);
    MPI_Comm_free(&copy_of_copy);
    MPI_Comm_dup(copy, &copy_of_copy); /* maybe with the same handle */
    raise_some(1, copy_of_copy);
    PERUSE_Event_deactivate(handle);
    PERUSE_Event_release(&handle);
    PERUSE_Event_deactivate(other);
    PERUSE_Event_release(&other);
    for (MPI_Comm *c = (MPI_Comm[]){MPI_COMM_WORLD, copy, copy_of_copy, late, MPI_COMM_NULL}; *c != MPI_COMM_NULL; c++) raise_some(7, *c);
    printf(" forbidden %ld\n", peruse_forbidden());
}

int main(int argc, char **argv)
{
    MPI_Comm reverse;
    int rank, size;
    void *handle;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && argv[1][0] == 'p') {
        propagate();
        return MPI_Finalize();
    }
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
