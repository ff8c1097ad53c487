/* Rank 1 is late for a message, a barrier, a nonblocking reduction and a lock. */
#include <mpi.h>
#include <time.h>
static void late(int rank)
{
	struct timespec a, b;
	clock_gettime(CLOCK_MONOTONIC, &a);
	do clock_gettime(CLOCK_MONOTONIC, &b);
	while (rank == 1 && (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 20);
}
int main(int argc, char **argv)
{
	int rank, x = 0, y;
	MPI_Request r;
	MPI_Win w;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 3; i++) {
		late(rank);
		if (rank) MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD); else MPI_Recv(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		late(rank);
		MPI_Barrier(MPI_COMM_WORLD);
		late(rank);
		MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	}
	MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w);
	if (rank) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
	MPI_Barrier(MPI_COMM_WORLD);
	late(rank);
	if (!rank) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w);
	MPI_Win_unlock(1, w);
	MPI_Win_free(&w);
	MPI_Finalize();
	return 0;
}
