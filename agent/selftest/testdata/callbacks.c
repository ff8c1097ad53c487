/* Calls from the application's callbacks, and calls left by longjmp. One process. */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

static jmp_buf back;

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void leave(MPI_Comm *comm, int *code, ...)
{
    int class;
    (void)comm;
    MPI_Error_class(*code, &class);
    longjmp(back, 1);
}

static void stay(MPI_Comm *comm, int *code, ...)
{
    int class;
    (void)comm;
    MPI_Error_class(*code, &class);
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    int size;
    (void)keyval;
    (void)extra;
    MPI_Comm_size(comm, &size);
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int gone(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int size;
    (void)keyval;
    (void)value;
    (void)extra;
    MPI_Comm_size(comm, &size);
    return MPI_SUCCESS;
}

/* Deeper in the stack than the abandoned call. */
static void __attribute__((noinline)) deep(int n)
{
    volatile char room[512];
    int flag;
    room[0] = (char)n;
    if (n > 0)
        deep(n - 1);
    else
        MPI_Finalized(&flag);
    room[1] = room[0];
}

int main(int argc, char **argv)
{
    int rank, in = 1, out = 2, keyval, flag;
    MPI_Op op;
    MPI_Errhandler handler, quiet;
    MPI_Comm dup;
    MPI_Init(&argc, &argv);
    MPI_Op_create(sum, 1, &op);
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op); /* MPI_Type_size, nested */
    MPI_Op_free(&op);
    MPI_Comm_create_keyval(copy, gone, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &in);
    MPI_Comm_dup(MPI_COMM_SELF, &dup); /* MPI_Comm_size, nested */
    MPI_Comm_free(&dup);                /* again */
    MPI_Comm_create_errhandler(stay, &quiet);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, quiet);
    MPI_Send(&in, 1, MPI_INT, 77, 0, MPI_COMM_WORLD); /* MPI_Error_class, nested; the send fails */
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < 3; i++)
        if (setjmp(back) == 0) MPI_Send(&in, 1, MPI_INT, 77, 0, MPI_COMM_WORLD); /* MPI_Error_class, nested; left */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 5; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (setjmp(back) == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Send(&in, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
    }
    deep(20);
    MPI_Initialized(&flag);
    printf("%d\n", out);
    MPI_Finalize(); /* MPI_Comm_size, for the third time, as MPI_COMM_SELF's attributes are deleted first */
    return 0;
}
