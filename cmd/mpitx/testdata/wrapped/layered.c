/* layered.c: calls MPI through a PMPI wrapper (pmpi.c) and a layer of its own (layer.c): layered [hang] */
#include <mpi.h>
#include <stddef.h>

int layer_barrier(MPI_Comm comm);
void layer_hang(MPI_Comm comm);

int main(int argc, char **argv)
{
    int rank, word = 0;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 10; i++) {
        if (rank == 0)
            MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); /* line 16 */
        else if (rank == 1)
            MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD));
    MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* line 21 */
    layer_barrier(copy);                 /* line 22 */
    if (argc > 1 && rank == 1)
        layer_hang(copy); /* line 24 */
    else if (argc > 1)
        layer_barrier(copy);
    MPI_Finalize();
    return 0;
}
