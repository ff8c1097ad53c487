/* sampler_objects: three processes or more. Makes a communicator "last" that is freed between two samples; an intercommunicator "inter" of
 * rank 0 and the others; and one of even and odd ranks, "equal" if both have the same size. */
#include <mpi.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void calls(double seconds)
{
    int flag;
    for (double end = now() + seconds; now() < end;)
        for (int i = 0; i < 100; i++) MPI_Initialized(&flag);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm last, side, parity, inter, equal;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &last);
    MPI_Comm_set_name(last, "last");
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &side);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
    MPI_Intercomm_create(side, 0, MPI_COMM_WORLD, rank == 0, 5, &inter);
    MPI_Comm_set_name(inter, "inter");
    MPI_Intercomm_create(parity, 0, MPI_COMM_WORLD, 1 - rank % 2, 6, &equal);
    MPI_Comm_set_name(equal, "equal");
    calls(0.35);
    MPI_Comm_free(&last);
    calls(0.05);
    MPI_Comm_free(&equal);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&parity);
    MPI_Comm_free(&side);
    MPI_Finalize();
    return 0;
}
