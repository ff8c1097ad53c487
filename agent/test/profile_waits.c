/* profile_waits.c: rank 3 waits for one or two known ranks in each function, on a communicator whose ranks are reversed. */
#include <mpi.h>
#include <unistd.h>

enum { TIMES = 5 };
static MPI_Comm reversed;
static int world;

/* The calls of a rank after all have come here; those of the ranks that rank 3 waits for are late. */
static int turn(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != world) return 0;
    if (rank != 3) usleep(20000);
    return 1;
}

static void step(void)
{
    enum { WORLD0 = 3, WORLD1 = 2, WORLD2 = 1, WORLD3 = 0 }; /* in `reversed` */
    MPI_Request requests[2];
    int in[2], out = 1, index;

    if (turn(2)) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 3) MPI_Recv(in, 1, MPI_INT, WORLD2, 0, reversed, MPI_STATUS_IGNORE);

    if (turn(1)) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 3) {
        MPI_Irecv(in, 1, MPI_INT, MPI_ANY_SOURCE, 0, reversed, requests);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }

    if (turn(2)) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 1) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 3) {
        MPI_Irecv(&in[0], 1, MPI_INT, WORLD1, 0, reversed, &requests[0]);
        MPI_Irecv(&in[1], 1, MPI_INT, WORLD2, 0, reversed, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }

    if (turn(0)) MPI_Recv(in, 1, MPI_INT, WORLD3, 0, reversed, MPI_STATUS_IGNORE);
    if (world == 3) MPI_Ssend(&out, 1, MPI_INT, WORLD0, 0, reversed);

    if (turn(0)) MPI_Recv(in, 1, MPI_INT, WORLD3, 0, reversed, MPI_STATUS_IGNORE);
    if (world == 3) {
        MPI_Issend(&out, 1, MPI_INT, WORLD0, 0, reversed, requests);
        MPI_Waitany(1, requests, &index, MPI_STATUS_IGNORE);
    }

    if (turn(2)) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 3) {
        MPI_Probe(WORLD2, 0, reversed, MPI_STATUS_IGNORE);
        MPI_Recv(in, 1, MPI_INT, WORLD2, 0, reversed, MPI_STATUS_IGNORE);
    }

    /* A receive and a send at once: the receive counts. */
    if (turn(1)) MPI_Send(&out, 1, MPI_INT, WORLD3, 0, reversed);
    if (world == 0) MPI_Recv(in, 1, MPI_INT, WORLD3, 0, reversed, MPI_STATUS_IGNORE);
    if (world == 3) MPI_Sendrecv(&out, 1, MPI_INT, WORLD0, 0, in, 1, MPI_INT, WORLD1, 0, reversed, MPI_STATUS_IGNORE);

    turn(-1);
    if (world == 3) {
        MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, 0, reversed, requests);
        MPI_Waitsome(1, requests, &index, in, MPI_STATUSES_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &reversed);
    for (int i = 0; i < TIMES; i++) step();
    MPI_Comm_free(&reversed);
    MPI_Finalize();
    return 0;
}
