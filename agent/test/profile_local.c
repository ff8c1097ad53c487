/* profile_local: calls MPI_Type_size ten thousand times from one place, always in turn with others, and 500 times from another one. It
 * takes 20 µs in each $PERIOD-th call: see profile_local_tool.c. Also polls. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int size, flag;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10000; i++) {
        MPI_Type_size(MPI_INT, &size);
        if (i % 2) MPI_Comm_size(i % 4 == 1 ? MPI_COMM_SELF : MPI_COMM_WORLD, &size);
        if (i % 8 == 0) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 500; i++) MPI_Type_size(MPI_CHAR, &size);
    MPI_Finalize();
    return 0;
}
