/* waits LOG: checks that a due sample is taken before rank 0 waits. Rank 1 sends after the log, which log.c writes on rank 0, has one more
 * line than when rank 0 began to receive. Prints how often that happened, of four. Two processes. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int lines(const char *path)
{
    char line[256];
    int n = 0;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) n += strcmp(line, "due\n") == 0;
    if (file) fclose(file);
    return n;
}

static int more(const char *path, int than)
{
    for (int i = 0; i < 5000; i++, usleep(1000))
        if (lines(path) > than) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    int rank, number = 0, came = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 4; i++) {
        if (rank == 1) {
            MPI_Recv(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            came += more(argv[1], number);
            MPI_Send(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
            continue;
        }
        if (i == 1) MPI_Irecv(&came, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
        number = lines(argv[1]) + 1; /* plus the line of this call when it returns */
        MPI_Send(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        if (i == 0) MPI_Recv(&came, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (i == 2) MPI_Probe(1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (i >= 2) PMPI_Recv(&came, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1) printf("%d of 4\n", came);
    MPI_Finalize();
    return 0;
}
