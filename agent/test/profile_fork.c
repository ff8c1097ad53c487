/* profile_fork.c: a child that calls MPI functions, which must not count. One process. */
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int flag, status = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 3; i++) MPI_Initialized(&flag);
    pid_t child = fork();
    for (int i = 0; i < 4; i++) MPI_Initialized(&flag);
    if (child == 0) _exit(0);
    waitpid(child, &status, 0);
    MPI_Finalize();
    return status != 0;
}
