/* derived: a known number of calls from which events of PERUSE are derived. Ranks 0 and 2 send 5 messages each, ranks 1 and 3 receive
 * them. Each rank writes a file in two phases and synchronises a window. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, data[4] = {0};
    MPI_Win win;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        if (rank % 2 == 0) MPI_Send(data, 4, MPI_INT, rank + 1, 7, MPI_COMM_WORLD);
        else MPI_Recv(data, 4, MPI_INT, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    if (MPI_File_open(MPI_COMM_WORLD, "derived.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) return 1;
    MPI_File_write_at_all_begin(file, rank * sizeof data, data, 4, MPI_INT);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
