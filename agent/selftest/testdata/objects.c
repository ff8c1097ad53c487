/* Communicators, windows, levels, and forty calls for the countdown. Two processes. */
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    MPI_Comm dup, idup, half, cart;
    MPI_Win win;
    MPI_Request request;
    int rank, dims[1] = {2}, periods[1] = {0}, memory[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "the dup");
    MPI_Comm_idup(MPI_COMM_WORLD, &idup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &half);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &cart);
    MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "the win");
    MPI_Win_free(&win);
    MPI_Comm_free(&cart);
    if (half != MPI_COMM_NULL) MPI_Comm_free(&half);
    MPI_Comm_disconnect(&idup);
    MPI_Comm_free(&dup);
    MPI_Pcontrol(3, "more", 1.5);
    for (int i = 0; i < 40; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (fork() == 0) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* harmless in both libraries, and not checked */
        _exit(0);
    }
    wait(NULL);
    MPI_Finalize();
    return 0;
}
