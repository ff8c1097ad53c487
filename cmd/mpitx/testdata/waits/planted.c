// planted makes one rank of two late for calls of each kind, three times each, and prints "FUNCTION/LATER LINE RANK NANOSECONDS LATE": for how long
// which rank waited in FUNCTION in all, by a clock of its own, and which rank was late, in whose call LATER. With an argument, all ranks share one core.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int rank;
static char buffer[64], got[64];

static struct planted {
	const char *function;
	int line, late;
	long long waited;
} all[64];
static int count;

// busy lets a rank compute for 80 ms after a barrier, and returns when the other one goes on.
static long long busy(int late)
{
	MPI_Barrier(MPI_COMM_WORLD);
	long long began = now();
	while (rank == late && now() - began < 80000000)
		;
	return now();
}

static void add(const char *function, int line, int late, long long began)
{
	long long both[2] = {0};
	int n = 0;
	MPI_Allgather(&began, 1, MPI_LONG_LONG, both, 1, MPI_LONG_LONG, MPI_COMM_WORLD);
	while (n < count && (all[n].line != line || strcmp(all[n].function, function)))
		n++;
	if (n == count)
		count++;
	all[n].function = function;
	all[n].line = line;
	all[n].late = late;
	all[n].waited += both[late] - both[1 - late];
}

#define PLANT(late, function, call) \
	do { \
		long long began = busy(late); \
		call; \
		add(function, __LINE__, late, began); \
	} while (0)

int main(int argc, char **argv)
{
	MPI_Request request[2];
	MPI_Comm half, grid, graph, inter, reversed;
	MPI_File file;
	MPI_Win window, locked;
	MPI_Group world, other;
	cpu_set_t cores, first;
	CPU_ZERO(&first);
	for (int i = 0; argc > 1 && !sched_getaffinity(0, sizeof cores, &cores) && !CPU_COUNT(&first); i++)
		if (CPU_ISSET(i, &cores))
			CPU_SET(i, &first);
	if (argc > 1)
		sched_setaffinity(0, sizeof first, &first);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_create(buffer, sizeof buffer, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &locked);
	int partner = 1 - rank, both = 2, open = 0;
	MPI_Cart_create(MPI_COMM_WORLD, 1, &both, &open, 0, &grid);
	MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, MPI_UNWEIGHTED, 1, &partner, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
	MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, partner, 5, &inter);
	MPI_File_open(MPI_COMM_WORLD, "planted.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &partner, &other);
#if MPI_VERSION >= 4
	MPI_Request persistent;
	MPI_Allreduce_init(buffer, got, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &persistent);
	static char parts[2][4 << 20]; // partitions of 1 MiB: a send of less is late only if it ends promptly, which a busy machine prevents
	MPI_Request part[2]; // from rank 1 to rank 0, of one tag
	for (int i = 0; i < 2; i++)
		if (rank)
			MPI_Psend_init(parts[i], 4, 1 << 20, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &part[i]);
		else
			MPI_Precv_init(parts[i], 2, 2 << 20, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &part[i]);
#endif
	for (int i = 0; i < 3; i++) {
		int index;
		PLANT(1, "MPI_Barrier/MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD));
		PLANT(0, "MPI_Allreduce/MPI_Allreduce", MPI_Allreduce(buffer, got, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		PLANT(0, "MPI_Bcast/MPI_Bcast", MPI_Bcast(buffer, 8, MPI_INT, 0, MPI_COMM_WORLD));
		PLANT(1, "MPI_Reduce/MPI_Reduce", MPI_Reduce(buffer, got, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
		PLANT(0, "MPI_Scan/MPI_Scan", MPI_Scan(buffer, got, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
		PLANT(1, "MPI_Win_fence/MPI_Win_fence", MPI_Win_fence(0, window));
		PLANT(0, "MPI_Comm_split/MPI_Comm_split", MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &half));
		MPI_Comm_free(&half);
		PLANT(1, "MPI_Recv/MPI_Send", if (rank) MPI_Send(buffer, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD); else MPI_Recv(got, 8, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Ssend/MPI_Recv", if (rank) MPI_Ssend(buffer, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD); else MPI_Recv(got, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Probe/MPI_Send", if (rank) MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); else MPI_Send(buffer, 8, MPI_CHAR, 1, 3, MPI_COMM_WORLD));
		if (rank)
			MPI_Recv(got, 8, MPI_CHAR, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Irecv(got, 8, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &request[0]);
		PLANT(1, "MPI_Waitall/MPI_Isend", MPI_Isend(buffer, 8, MPI_CHAR, 1 - rank, 4, MPI_COMM_WORLD, &request[1]); MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
		MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
		if (rank == 0) {
			MPI_Win_post(other, 0, window);
		} else {
			MPI_Win_start(other, 0, window);
			MPI_Put(got, 8, MPI_CHAR, 0, 0, 8, MPI_CHAR, window);
		}
		PLANT(1, "MPI_Win_wait/MPI_Win_complete", if (rank) MPI_Win_complete(window); else MPI_Win_wait(window));
		PLANT(1, "MPI_Wait/MPI_Iallreduce", MPI_Iallreduce(buffer, got, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Waitall/MPI_Ibcast", MPI_Ibcast(buffer, 8, MPI_INT, 0, MPI_COMM_WORLD, request); MPI_Waitall(1, request, MPI_STATUSES_IGNORE));
		PLANT(1, "MPI_Waitany/MPI_Ireduce", MPI_Ireduce(buffer, got, 8, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, request); MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Wait/MPI_Ibarrier", MPI_Ibarrier(MPI_COMM_WORLD, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Neighbor_alltoall/MPI_Neighbor_alltoall", MPI_Neighbor_alltoall(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, grid));
		PLANT(1, "MPI_Wait/MPI_Ineighbor_allgather", MPI_Ineighbor_allgather(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, graph, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_Wait/MPI_Comm_idup", MPI_Comm_idup(MPI_COMM_WORLD, &half, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		MPI_Comm_free(&half);
		PLANT(0, "MPI_Alltoall/MPI_Alltoall", MPI_Alltoall(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, inter));
		PLANT(1, "MPI_Gather/MPI_Gather", MPI_Gather(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, rank ? 0 : MPI_ROOT, inter));
		PLANT(0, "MPI_Scatter/MPI_Scatter", MPI_Scatter(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, rank ? 0 : MPI_ROOT, inter));
		PLANT(0, "MPI_Wait/MPI_Iallgather", MPI_Iallgather(buffer, 4, MPI_CHAR, got, 4, MPI_CHAR, inter, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		PLANT(1, "MPI_Exscan/MPI_Exscan", MPI_Exscan(buffer, got, 8, MPI_INT, MPI_SUM, reversed));
		PLANT(1, "MPI_Intercomm_create/MPI_Intercomm_create", MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, partner, 7, &half));
		MPI_Comm_free(&half);
		PLANT(0, "MPI_Comm_create_group/MPI_Comm_create_group", MPI_Comm_create_group(MPI_COMM_WORLD, world, 8, &half));
		PLANT(1, "MPI_Comm_disconnect/MPI_Comm_disconnect", MPI_Comm_disconnect(&half));
		PLANT(0, "MPI_File_set_atomicity/MPI_File_set_atomicity", MPI_File_set_atomicity(file, i % 2 == 0));
		PLANT(1, "MPI_File_seek_shared/MPI_File_seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
		PLANT(0, "MPI_File_write_ordered/MPI_File_write_ordered", MPI_File_write_ordered(file, buffer, 8, MPI_CHAR, MPI_STATUS_IGNORE));
		PLANT(1, "MPI_File_write_at_all/MPI_File_write_at_all", MPI_File_write_at_all(file, 8 * rank, buffer, 8, MPI_CHAR, MPI_STATUS_IGNORE));
		PLANT(1, "MPI_Wait/MPI_File_iwrite_at_all", MPI_File_iwrite_at_all(file, 8 * rank, buffer, 8, MPI_CHAR, request); MPI_Wait(request, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_File_write_at_all_begin/MPI_File_write_at_all_begin", MPI_File_write_at_all_begin(file, 8 * rank, buffer, 8, MPI_CHAR); MPI_File_write_at_all_end(file, buffer, MPI_STATUS_IGNORE));
		PLANT(0, "MPI_File_read_at_all_begin/MPI_File_read_at_all_begin", MPI_File_read_at_all_begin(file, 0, got, 8, MPI_CHAR); MPI_File_read_at_all_end(file, got, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
		MPI_Start(&part[1]); // in another order than they were initialized
		if (rank)
			MPI_Pready_range(0, 2, part[1]);
		PLANT(1, "MPI_Wait/MPI_Pready", if (rank) MPI_Pready(3, part[1]); MPI_Wait(&part[1], MPI_STATUS_IGNORE));
		if (rank) {
			MPI_Start(&part[0]);
			MPI_Pready_list(4, (int[]){3, 1, 2, 0}, part[0]);
		}
		PLANT(0, "MPI_Waitall/MPI_Start", if (!rank) MPI_Start(&part[0]); MPI_Waitall(1, part, MPI_STATUSES_IGNORE));
		MPI_Startall(2, part);
		if (rank)
			MPI_Pready_range(0, 3, part[0]);
		if (rank)
			MPI_Pready_range(0, 3, part[1]);
		PLANT(1, "MPI_Barrier/MPI_Barrier", MPI_Barrier(MPI_COMM_WORLD)); // nobody is late for these
		MPI_Waitall(2, part, MPI_STATUSES_IGNORE);
		PLANT(1, "MPI_Wait/MPI_Start", MPI_Start(&persistent); MPI_Wait(&persistent, MPI_STATUS_IGNORE));
#endif
		if (rank)
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, locked);
		PLANT(1, "MPI_Win_lock/MPI_Win_unlock", if (rank) MPI_Win_unlock(1, locked); else MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, locked));
		if (rank == 0)
			MPI_Win_unlock(1, locked);
	}
	for (int i = 0; i < count && rank == 0; i++)
		printf("%s %d %d %lld %d\n", all[i].function, all[i].line, 1 - all[i].late, all[i].waited, all[i].late);
	MPI_Comm_free(&grid);
	MPI_Comm_free(&graph);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&reversed);
	MPI_File_close(&file);
	MPI_Win_free(&window);
	MPI_Win_free(&locked);
#if MPI_VERSION >= 4
	MPI_Request_free(&persistent);
	MPI_Request_free(&part[0]);
	MPI_Request_free(&part[1]);
#endif
	MPI_Finalize();
	return 0;
}
