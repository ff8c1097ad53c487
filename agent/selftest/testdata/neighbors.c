/* Neighbourhood collectives on a grid with one open dimension and one periodic one. One process, which is its own neighbour twice. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int dimensions[2] = {1, 1}, periods[2] = {0, 1}, values[40] = {0}, results[40];
    int counts[4] = {1, 2, 3, 3}, displacements[4] = {0, 1, 3, 6};
    MPI_Aint bytes[4] = {0, 4, 12, 24};
    MPI_Datatype types[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Comm grid;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dimensions, periods, 0, &grid);
    MPI_Neighbor_allgather(values, 5, MPI_INT, results, 5, MPI_INT, grid);                                        /* 20 and 40 bytes */
    MPI_Neighbor_alltoall(values, 5, MPI_INT, results, 5, MPI_INT, grid);                                         /* 40, 40 */
    MPI_Neighbor_allgatherv(values, 3, MPI_INT, results, counts, displacements, MPI_INT, grid);                   /* 12, 24 */
    MPI_Neighbor_alltoallv(values, counts, displacements, MPI_INT, results, counts, displacements, MPI_INT, grid); /* 24, 24 */
    MPI_Ineighbor_alltoallw(values, counts, bytes, types, results, counts, bytes, types, grid, &request);         /* 24, 24 */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
