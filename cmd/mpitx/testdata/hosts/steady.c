/* steady.c: an application that goes on until the file DIR/stop is there: steady DIR. Each rank leaves its process identifier in DIR/pid.RANK,
 * and prints at its end how often it has called MPI_Ibcast. It sleeps in between: ranks that spin would need a processor each.
 *
 * Ranks do not send anything to other hosts: MPICH over UCX's TCP hangs in MPI_Finalize if a rank waits for the answer of another one that
 * does not poll any more. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long calls = 0;
    int rank, word = 0;
    char path[4096], hidden[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/pid.%d", argv[1], rank);
    snprintf(hidden, sizeof hidden, "%s/new.%d", argv[1], rank);
    FILE *f = fopen(hidden, "w");
    if (!f) MPI_Abort(MPI_COMM_WORLD, 9);
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    rename(hidden, path);
    snprintf(path, sizeof path, "%s/stop", argv[1]);
    while (access(path, F_OK) != 0) {
        MPI_Request request;
        MPI_Ibcast(&word, 1, MPI_INT, 0, MPI_COMM_SELF, &request);
        calls++;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        usleep(500);
    }
    printf("rank %d: %ld calls\n", rank, calls);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
