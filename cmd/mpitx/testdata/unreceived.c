/* unreceived.c: messages that nobody receives, for the tests of `mpitx trace` and `mpitx report RUN queues`: unreceived hang|ends|frees. */
#include <mpi.h>
#include <string.h>

static int rank, value;

static void send(int tag) { MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD); }
static void receive(int tag) { MPI_Recv(&value, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

/* The eighth message has the wrong tag, so rank 1 waits for ever. */
static void hang(void)
{
    for (int i = 0; i < 10; i++) {
        if (rank == 0) send(5);
        if (rank == 0) send(i == 7 ? 5 : 6);
        if (rank == 1) receive(5);
        if (rank == 1) receive(6);
    }
}

/* A late receive takes its message, and a cancelled one none; nobody receives tag 2. The receive that is freed takes tag 1, unseen. */
static void end(int frees)
{
    static int buffer;
    MPI_Request request, cancelled;
    if (rank == 1) {
        if (frees) MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request);
        if (frees) MPI_Request_free(&request);
        MPI_Irecv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &cancelled);
        MPI_Cancel(&cancelled);
        MPI_Wait(&cancelled, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int tag = 1; rank == 0 && tag < 4; tag++)
        if (tag == 1 ? frees : tag == 3 || !frees) send(tag);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) receive(3);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    strcmp(argv[1], "hang") ? end(!strcmp(argv[1], "frees")) : hang();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
