/* swallow.c: with -DTOOL a tool that answers MPI_Send itself, with 77; else a program that sends to a rank that does not exist. */
#ifdef TOOL
#include <qmpi.h>

static int swallow(MPI_Context context, int tool_id, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    (void)context, (void)tool_id, (void)buf, (void)count, (void)type, (void)dest, (void)tag, (void)comm;
    return 77;
}

static void init(int tool_id)
{
    MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))swallow);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("swallow", init);
}
#else
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int value = 1;
    MPI_Init(&argc, &argv);
    printf("%d\n", MPI_Send(&value, 1, MPI_INT, 1000, 0, MPI_COMM_WORLD)); /* the library would end the program */
    MPI_Finalize();
    return 0;
}
#endif
