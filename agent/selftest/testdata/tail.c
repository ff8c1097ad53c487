/* Calls that a jump of a tool or the library could make count twice, and a callback whose calls are the application's. */
#include <mpi.h>
#include <stdio.h>

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank, value = 1, other = 0, keyval, flag, *found;
    MPI_Request requests[2];
    MPI_Op op;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(&other, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; i++) {
        MPI_Irecv(&other, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]);
        for (int k = 0; k < 2; k++) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
    }
    MPI_Op_create(sum, 1, &op);
    MPI_Reduce_local(&value, &other, 1, MPI_INT, op);
    MPI_Op_free(&op);
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &keyval, NULL);
    MPI_Attr_put(MPI_COMM_SELF, keyval, &value);
    for (int i = 0; i < 5; i++) MPI_Attr_get(MPI_COMM_SELF, keyval, &found, &flag);
    MPI_Attr_delete(MPI_COMM_SELF, keyval);
    MPI_Keyval_free(&keyval);
    MPI_Finalize();
    return !(other == 2 && flag && found == &value);
}
