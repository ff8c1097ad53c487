/* spawn_path.c: spawns a program that does not exist, with an info object that says where it is. One process. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    MPI_Comm children;
    MPI_Info info, copy;
    int code;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Info_create(&info);
    MPI_Info_set(info, "path", "/longer/than/seven");
    MPI_Info_dup(info, &copy);
    MPI_Info_free(&info);
    printf("spawn returned %s\n", MPI_Comm_spawn("no-such-program", MPI_ARGV_NULL, 1, copy, 0, MPI_COMM_SELF, &children, &code) ? "an error" : "success");
    MPI_Info_free(&copy);
    MPI_Finalize();
    return 0;
}
