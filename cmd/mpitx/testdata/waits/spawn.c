// spawn lets two ranks spawn two more, makes some of them late, and prints "CALL RANK NANOSECONDS": when a rank of the run began which call.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int rank;

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void busy(const char *call, int ms)
{
	long long began = now();
	while (now() - began < ms * 1000000LL)
		;
	printf("%s %d %lld\n", call, rank, now());
	fflush(stdout);
}

int main(int argc, char **argv)
{
	MPI_Comm parents, children;
	char buffer[8] = "", all[16];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_get_parent(&parents);
	if (parents != MPI_COMM_NULL) {
		rank += 2;
		busy("MPI_Barrier", 100 * rank);
		MPI_Barrier(parents);
		busy("MPI_Bcast", 20);
		MPI_Bcast(buffer, 8, MPI_CHAR, 0, parents);
		busy("MPI_Gather", rank == 2 ? 150 : 10);
		MPI_Gather(buffer, 8, MPI_CHAR, all, 8, MPI_CHAR, 1, parents);
		busy(rank == 2 ? "MPI_Send" : "MPI_Recv", rank == 2 ? 200 : 0);
		if (rank == 2)
			MPI_Send(buffer, 8, MPI_CHAR, 1, 7, parents);
		else
			MPI_Recv(buffer, 8, MPI_CHAR, 0, 7, parents, MPI_STATUS_IGNORE);
		MPI_Comm_disconnect(&parents);
		MPI_Finalize();
		return 0;
	}
	busy("MPI_Comm_spawn", rank * 100);
	MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
	busy("MPI_Barrier", 0);
	MPI_Barrier(children);
	busy("MPI_Bcast", rank ? 0 : 150);
	MPI_Bcast(buffer, 8, MPI_CHAR, rank ? MPI_PROC_NULL : MPI_ROOT, children);
	busy("MPI_Gather", 0);
	MPI_Gather(buffer, 8, MPI_CHAR, all, 8, MPI_CHAR, rank ? MPI_ROOT : MPI_PROC_NULL, children);
	busy(rank ? "MPI_Recv" : "MPI_Send", rank ? 0 : 350);
	if (rank)
		MPI_Recv(buffer, 8, MPI_CHAR, MPI_ANY_SOURCE, 7, children, MPI_STATUS_IGNORE);
	else
		MPI_Send(buffer, 8, MPI_CHAR, 1, 7, children);
	MPI_Comm_disconnect(&children);
	MPI_Finalize();
	return 0;
}
