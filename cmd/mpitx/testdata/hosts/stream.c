/* stream.c: rank 2 sends messages to rank 0 until the file DIR/stop is there: stream DIR. The other ranks sleep. All of
 * them poll, as MPICH over UCX's TCP needs ranks that do. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BYTES = 65536 };

static void complete(MPI_Request *request)
{
    for (int done = 0; !done;) {
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (!done) usleep(50);
    }
}

int main(int argc, char **argv)
{
    int rank, go = 1;
    char path[4096], *data = calloc(1, BYTES);
    MPI_Request request;
    if (argc < 2) return 2;
    snprintf(path, sizeof path, "%s/stop", argv[1]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (long round = 0; go; round++) {
        if (rank == 2) {
            MPI_Isend(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
            complete(&request);
        } else if (rank == 0) {
            MPI_Irecv(data, BYTES, MPI_BYTE, 2, 1, MPI_COMM_WORLD, &request);
            complete(&request);
        } else {
            usleep(1000);
        }
        if (rank == 0) go = round % 16 != 15 || access(path, F_OK) != 0;
        if (round % 16 != 15) continue;
        MPI_Ibcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        complete(&request);
    }
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete(&request);
    MPI_Finalize();
    return 0;
}
