/* clock_traffic MILLISECONDS [answers]: rank 0 sends rank 1 messages. Rank 1 answers each, or none. With answers, they go on at the beginning
 * and at the end until ten messages in a row were answered quickly: both ranks then have a core. */
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, answers;

static long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* more: whether another one follows. Returns the time until the answer. */
static long long send(int more)
{
    long long start = now();
    MPI_Send(&more, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    if (answers) MPI_Recv(&more, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return now() - start;
}

static void send_until_quick(void)
{
    for (int quick = 0; answers && quick < 10;) quick = send(1) < 30000 ? quick + 1 : 0;
}

int main(int argc, char **argv)
{
    int more = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    answers = argc > 2;
    if (rank == 0) {
        int count = atoi(argv[1]);
        send_until_quick();
        for (int i = 0; i < count; i++) {
            send(1);
            usleep(1000);
        }
        send_until_quick();
        send(0);
    }
    while (rank == 1 && more) {
        MPI_Recv(&more, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (answers) MPI_Send(&more, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
