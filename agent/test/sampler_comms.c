/* sampler_comms SECONDS RATE: creates and frees RATE communicators a second. Keeps two, one named "even" or "odd" and one an
 * intercommunicator. Creates a window if possible. Prints the number. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    double seconds = atof(argv[1]), rate = atof(argv[2]);
    int rank, size, n = 0, go = 1, x = 1, sum;
    MPI_Comm kept, half, inter = MPI_COMM_NULL, none, comm;
    MPI_Win win = MPI_WIN_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &kept);
    MPI_Comm_set_name(kept, rank % 2 ? "odd" : "even");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &half);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, rank, &none);
    if (size > 1) {
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 5, &inter);
        MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    double start = now();
    while (go) {
        MPI_Request request;
        if (n % 5 == 0) {
            MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        if (n % 3 == 0)
            MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Comm_free(&comm);
        n++;
        while (now() < start + n / rate)
            ;
        if (n % 20 == 0) {
            go = now() - start < seconds;
            MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
        }
    }
    if (win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&kept);
    printf("rank %d: %d communicators\n", rank, n);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
