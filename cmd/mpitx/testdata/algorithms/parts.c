/* parts: a reduction whose operation calls a collective itself, and a broadcast between two groups. For four ranks. */
#include <mpi.h>

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int one = 1, sum;
    for (int i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    (void)type;
}

int main(int argc, char **argv)
{
    int rank, value = 1, sum = 0;
    MPI_Op op;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < 10; i++) MPI_Allreduce(&value, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 1, &both);
    MPI_Comm_set_name(both, "both");
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    for (int i = 0; i < 10; i++) MPI_Bcast(&value, 1, MPI_INT, root, both);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Op_free(&op);
    MPI_Finalize();
    return 0;
}
