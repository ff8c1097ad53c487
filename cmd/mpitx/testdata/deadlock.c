/* deadlock.c: jobs that hang, for the tests of `mpitx where`: deadlock KIND. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGE = 1 << 22 };

static int rank, size;
static char *buffer;

static void compute(void)
{
    for (volatile long i = 0;; i++) continue;
}

static void send_to(int to, int tag) { MPI_Send(buffer, LARGE, MPI_CHAR, to, tag, MPI_COMM_WORLD); }
static void receive_from(int from, int tag) { MPI_Recv(buffer, LARGE, MPI_CHAR, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    MPI_Comm half, row;
    MPI_Request requests[2];
    int found = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(2, LARGE);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Barrier(MPI_COMM_WORLD);
    if (!strcmp(kind, "send-send")) {
        send_to(rank ^ 1, 7);
        receive_from(rank ^ 1, 7);
    } else if (!strcmp(kind, "recv-recv")) {
        receive_from(before, 7);
        send_to(next, 7);
    } else if (!strcmp(kind, "barrier")) { /* rank 1 is missing: it waits for a message */
        if (rank == 1) receive_from(0, 3);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "collectives")) {
        if (rank == 2)
            MPI_Bcast(buffer, 8, MPI_CHAR, 0, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "roots")) {
        MPI_Bcast(buffer, LARGE, MPI_CHAR, rank == 0 ? 1 : 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "tag")) { /* 1 sends with another tag, 3 on another communicator; messages of both were received before */
        MPI_Comm_dup(MPI_COMM_WORLD, &row);
        MPI_Comm_set_name(row, "copy");
        for (int i = 0; i < 20; i++) {
            if (rank == 3) MPI_Send(buffer, 8, MPI_CHAR, 2, 7, i % 2 ? row : MPI_COMM_WORLD);
            if (rank == 2) MPI_Recv(buffer, 8, MPI_CHAR, 3, 7, i % 2 ? row : MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 1) send_to(0, 8);
        if (rank == 0) receive_from(1, 7);
        if (rank == 3) MPI_Ssend(buffer, 8, MPI_CHAR, 2, 7, MPI_COMM_WORLD);
        if (rank == 2) MPI_Recv(buffer, 8, MPI_CHAR, 3, 7, row, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "objects")) {
        MPI_Comm_dup(MPI_COMM_WORLD, &half);
        MPI_Comm_set_name(half, "fluid");
        MPI_Comm_dup(MPI_COMM_WORLD, &row);
        MPI_Comm_set_name(row, "solid");
        MPI_Barrier(rank == 2 ? row : half);
    } else if (!strcmp(kind, "loop")) {
        if (rank == 1) compute();
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "chain")) { /* 3 waits for 2, 2 for 1, 1 for 0, which computes */
        if (rank == 0) compute();
        receive_from(rank - 1, rank);
    } else if (!strcmp(kind, "compute")) {
        compute();
    } else if (!strcmp(kind, "waitall")) {
        MPI_Irecv(buffer, 8, MPI_CHAR, before, 5, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(buffer + LARGE, 8, MPI_CHAR, next, 6, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (!strcmp(kind, "polls")) {
        MPI_Irecv(buffer, 8, MPI_CHAR, before, 5, MPI_COMM_WORLD, &requests[0]);
        while (!found) MPI_Test(&requests[0], &found, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "probes")) {
        while (!found) MPI_Iprobe(before, 5, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "subcomm")) { /* ranks in the communicators differ from those in MPI_COMM_WORLD */
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
        MPI_Comm_set_name(half, rank % 2 ? "odd" : "even");
        MPI_Comm_dup(half, &row);
        MPI_Comm_set_name(row, rank % 2 ? "odd again" : "even again");
        if (rank < 2)
            MPI_Recv(buffer, 8, MPI_CHAR, 0, 4, row, MPI_STATUS_IGNORE);
        else
            MPI_Barrier(row);
    } else if (!strcmp(kind, "finalize")) { /* a message that nobody sends */
        if (rank == 0) receive_from(1, 9);
    } else if (!strcmp(kind, "stops") || !strcmp(kind, "dies")) {
        if (rank == 1) raise(kind[0] == 's' ? SIGSTOP : SIGKILL);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "file")) { /* rank 1 does not write */
        MPI_File file;
        MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
        if (rank == 1) receive_from(0, 3);
        MPI_File_write_ordered(file, buffer, 8, MPI_CHAR, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "aborts")) {
        if (rank == 1) {
            sleep(1);
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (!strcmp(kind, "works")) {
        for (;;) MPI_Sendrecv_replace(buffer, 8, MPI_CHAR, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
