/* linked_tool.c: a program with two tools in it, which call MPI by plain names. It is linked with libmpitx-qmpi.so. */
#include <qmpi.h>
#include <stdio.h>

static int see_Comm_rank(MPI_Context context, int tool_id, MPI_Comm comm, int *rank)
{
    void *name;
    int next_id, own;
    QMPI_Comm_rank_t *next;
    MPI_Comm_rank(comm, &own); /* to the library, not to this function */
    MPI_Get_tool_storage(context, tool_id, &name);
    printf("%d %s\n", tool_id, (const char *)name);
    MPI_Get_next_tool_function(tool_id, MPI_COMM_RANK_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, comm, rank);
}

static int see_Reduce_local(MPI_Context context, int tool_id, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op)
{
    int next_id;
    QMPI_Reduce_local_t *next;
    MPI_Get_next_tool_function(tool_id, MPI_REDUCE_LOCAL_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, in, out, count, type, op);
}

/* The application's: tools see its call. */
static void reduce(void *in, void *out, int *count, MPI_Datatype *type)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
}

static void init(int tool_id, const char *name)
{
    MPI_Register_tool_storage(tool_id, (void *)name);
    MPI_Register_tool_function(tool_id, MPI_COMM_RANK_T, (void (*)(void))see_Comm_rank);
    MPI_Register_tool_function(tool_id, MPI_REDUCE_LOCAL_T, (void (*)(void))see_Reduce_local);
}

static void init_one(int tool_id) { init(tool_id, "one"); }
static void init_two(int tool_id) { init(tool_id, "two"); }

__attribute__((constructor)) static void start(void)
{
    if (MPI_Register_tool_name("one", init_one) != MPI_SUCCESS || MPI_Register_tool_name("two", init_two) != MPI_SUCCESS) puts("not registered");
}

int main(int argc, char **argv)
{
    int in = 1, out = 2;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Op_create(reduce, 1, &op);
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
    return MPI_Finalize();
}
