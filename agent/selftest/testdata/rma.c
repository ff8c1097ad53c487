/* One-sided operations, including some that only fetch and some to MPI_PROC_NULL. One process. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    int *memory, values[10] = {0}, result[10];
    MPI_Win win;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Win_allocate(100 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    MPI_Put(values, 10, MPI_INT, 0, 0, 10, MPI_INT, win);
    MPI_Get(result, 10, MPI_INT, 0, 0, 10, MPI_INT, win);
    MPI_Get_accumulate(values, 5, MPI_INT, result, 5, MPI_INT, 0, 0, 5, MPI_INT, MPI_SUM, win);
    MPI_Get_accumulate(values, 5, MPI_INT, result, 5, MPI_INT, 0, 0, 5, MPI_INT, MPI_NO_OP, win);
    MPI_Get_accumulate(NULL, 7, MPI_INT, result, 5, MPI_INT, 0, 0, 5, MPI_INT, MPI_NO_OP, win);
    MPI_Rget_accumulate(NULL, 7, MPI_INT, result, 5, MPI_INT, 0, 0, 5, MPI_INT, MPI_NO_OP, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Fetch_and_op(values, result, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Fetch_and_op(NULL, result, MPI_INT, 0, 0, MPI_NO_OP, win);
    MPI_Put(values, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win);
    MPI_Rget(result, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
