/* derived: a known number of calls from which events of PERUSE are derived. Ranks 0 and 2 send 5 messages each, ranks 1 and 3 receive
 * them, on a communicator with a name. Each rank synchronises a window, writes a file in two phases and with its shared pointer. With an
 * argument, rank 0 spawns a process. */
#include <mpi.h>
#include <stdio.h>

static void spawn(char *program, int rank)
{
    MPI_Comm child;
    if (rank == 0) {
        MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
        MPI_Comm_disconnect(&child);
    }
}

int main(int argc, char **argv)
{
    int rank, data[4] = {0};
    MPI_Comm parent, pairs;
    MPI_Win win;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        MPI_Comm_disconnect(&parent);
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &pairs);
    MPI_Comm_set_name(pairs, "pairs");
    for (int i = 0; i < 5; i++) {
        if (rank % 2 == 0) MPI_Send(data, 4, MPI_INT, rank + 1, 7, pairs);
        else MPI_Recv(data, 4, MPI_INT, rank - 1, 7, pairs, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&pairs);
    MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "halo");
    MPI_Win_fence(0, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    if (MPI_File_open(MPI_COMM_WORLD, "derived.out", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file)) return 1;
    MPI_File_write_at_all_begin(file, rank * sizeof data, data, 4, MPI_INT);
    MPI_File_write_at_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_write_shared(file, data, 4, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    if (argc > 1) spawn(argv[0], rank);
    MPI_Finalize();
    return 0;
}
