/* late: four ranks reduce 40 times. late RANK: this rank comes 8 ms after all others. late random: any rank does. late none: none does. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, size, unit;
	MPI_Aint bytes;
	MPI_Win window;
	void *shared, *own;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
	MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
	volatile int *come = shared;
	for (int i = 1, in = rank, out; i <= 40; i++) {
		int late = argc < 2 || strcmp(argv[1], "none") == 0 ? -1 : strcmp(argv[1], "random") == 0 ? rand() % size : atoi(argv[1]);
		for (int r = 0; r < size && rank == late; r++)
			while (r != rank && come[r] < i)
				usleep(100);
		if (rank == late)
			usleep(8000);
		come[rank] = i;
		MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Win_free(&window);
	MPI_Finalize();
	return 0;
}
