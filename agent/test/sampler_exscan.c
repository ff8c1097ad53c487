/* sampler_exscan: one MPI_Scan, MPI_Exscan and MPI_Iexscan of three ints. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int in[3] = {1, 2, 3}, out[3];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Scan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iexscan(in, out, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
