/* triggers: calls whose number, arguments and queue lengths are known. With two ranks: rank 0 sends rank 1
 *     7 messages of 100 bytes with tag 1, which rank 1 receives when all have arrived,
 *     and then 3 of 2,000,000 bytes with tag 2, of which the second one is on the communicator "solver".
 * Prints the MPI_Pcontrol levels and signals that it saw. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t signals;
static void count(int sig) { (void)sig; signals++; }

__attribute__((noinline)) static void receive(char *bytes, int n, int tag, MPI_Comm comm)
{
    MPI_Recv(bytes, n, MPI_CHAR, 0, tag, comm, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    static char bytes[2000000];
    int rank, sum = 1, all;
    MPI_Comm solver;
    signal(SIGUSR1, count);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &solver);
    MPI_Comm_set_name(solver, "solver");
    for (int i = 0; rank == 0 && i < 7; i++) MPI_Send(bytes, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (rank == 0) MPI_Ssend(bytes, 0, MPI_CHAR, 1, 9, solver); /* the others have arrived when it has */
    if (rank == 1) MPI_Recv(bytes, 0, MPI_CHAR, 0, 9, solver, MPI_STATUS_IGNORE);
    for (int i = 0; rank == 1 && i < 7; i++) receive(bytes, 100, 1, MPI_COMM_WORLD);
    for (int i = 0; i < 3; i++) {
        MPI_Comm comm = i == 1 ? solver : MPI_COMM_WORLD;
        if (rank == 0) MPI_Send(bytes, sizeof bytes, MPI_CHAR, 1, 2, comm);
        if (rank == 1) receive(bytes, sizeof bytes, 2, comm);
    }
    MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(&all, 1, MPI_INT, 1, solver);
    printf("rank %d signals %d\n", rank, (int)signals);
    fflush(stdout);
    MPI_Comm_free(&solver);
    MPI_Finalize();
    return 0;
}
