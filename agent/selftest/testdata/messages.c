/* Messages in communicators of many kinds, in known numbers. Three processes; with an argument one, which spawns two. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANY MPI_ANY_SOURCE, MPI_ANY_TAG
static int rank, size, data[64], other[64];

/* Sends from one rank of a communicator to another, which receives from MPI_ANY_SOURCE. */
static void move(int from, int to, int count, int tag, MPI_Comm comm)
{
    int here;
    MPI_Comm_rank(comm, &here);
    if (here == from) MPI_Send(data, count, MPI_INT, to, tag, comm);
    if (here == to) MPI_Recv(other, 64, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
}

static MPI_Comm reversed(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    return comm;
}

/* Restores the environment for the children, as the agent removes itself from it. */
static void spawned(char *program, char *preload, char *configuration)
{
    MPI_Comm children, all;
    MPI_Comm_get_parent(&children);
    int child = children != MPI_COMM_NULL;
    char *arguments[] = {preload, configuration, program, "spawn", NULL};
    if (!child) MPI_Comm_spawn("env", arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children, MPI_ERRCODES_IGNORE);
    if (!child) MPI_Send(data, 1, MPI_INT, 1, 31, children);
    if (!child) MPI_Recv(other, 64, MPI_INT, ANY, children, MPI_STATUS_IGNORE);
    if (child && rank == 1) MPI_Recv(other, 64, MPI_INT, ANY, children, MPI_STATUS_IGNORE);
    if (child && rank == 0) MPI_Send(data, 2, MPI_INT, 0, 32, children);
    MPI_Intercomm_merge(children, !child, &all); /* the children come first */
    MPI_Comm_disconnect(&children);
    move(0, 2, 3, 33, all);
    move(2, 1, 4, 34, all);
    move(0, 1, 5, 35, all);
    MPI_Comm_free(&all);
}

static void requests(MPI_Comm comm)
{
    MPI_Request pair[2];
    MPI_Status status;
    int here, count, flag = 0, indices[2], done = 0;
    MPI_Comm_rank(comm, &here);
    int to = (here + 1) % size, from = (here + size - 1) % size;
    MPI_Irecv(other, 64, MPI_INT, ANY, comm, &pair[0]);
    MPI_Isend(data, 1, MPI_INT, to, 11, comm, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    MPI_Irecv(other, 64, MPI_INT, from, 12, comm, &pair[0]);
    MPI_Isend(data, 2, MPI_INT, to, 12, comm, &pair[1]);
    for (; done < 2; done += count) MPI_Waitsome(2, pair, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Recv_init(other, 64, MPI_INT, ANY, comm, &pair[0]);
    MPI_Send_init(data, 3, MPI_INT, to, 13, comm, &pair[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, pair);
        MPI_Wait(&pair[0], &status);
        MPI_Wait(&pair[1], MPI_STATUS_IGNORE);
        MPI_Barrier(comm);
    }
    MPI_Request_free(&pair[0]);
    MPI_Request_free(&pair[1]);
    MPI_Sendrecv(data, 4, MPI_INT, to, 14, other, 64, MPI_INT, ANY, comm, MPI_STATUS_IGNORE);

    MPI_Message message;
    MPI_Isend(data, 5, MPI_INT, to, 15, comm, &pair[0]);
    MPI_Mprobe(ANY, comm, &message, &status);
    MPI_Mrecv(other, 64, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
    MPI_Isend(data, 6, MPI_INT, to, 16, comm, &pair[0]);
    while (!flag) MPI_Improbe(ANY, comm, &flag, &message, &status);
    MPI_Imrecv(other, 64, MPI_INT, &message, &pair[1]);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);

    /* no messages */
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, comm);
    MPI_Recv(other, 1, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(other, 1, MPI_INT, from, 999, comm, &pair[0]);
    MPI_Cancel(&pair[0]);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);

    /* its communicator is freed before it completes */
    MPI_Comm gone;
    MPI_Comm_dup(comm, &gone);
    MPI_Irecv(other, 64, MPI_INT, ANY, gone, &pair[0]);
    MPI_Isend(data, 7, MPI_INT, to, 17, gone, &pair[1]);
    MPI_Comm_free(&gone);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
}

static void one_sided(MPI_Comm comm)
{
    MPI_Win win;
    int here;
    MPI_Comm_rank(comm, &here);
    MPI_Win_create(data, sizeof data, sizeof *data, MPI_INFO_NULL, comm, &win);
    MPI_Win_fence(0, win);
    if (here == 0) MPI_Put(other, 3, MPI_INT, size - 1, 0, 3, MPI_INT, win);
    MPI_Win_fence(0, win);
    if (here == 0) MPI_Get_accumulate(other, 2, MPI_INT, other + 8, 2, MPI_INT, 1, 0, 2, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static char preload[4096], configuration[4096];
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    snprintf(configuration, sizeof configuration, "MPITX_AGENT=%s", getenv("MPITX_AGENT"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1) {
        spawned(argv[0], preload, configuration);
        MPI_Finalize();
        return 0;
    }
    move(0, 1, 1, 1, MPI_COMM_WORLD);
    MPI_Comm back = reversed(), again, grid, halves, between;
    move(0, 1, 2, 2, back);
    /* a handle that may be reused, with its ranks for other processes */
    for (int i = 0; i < 3; i++) {
        if (i % 2) again = reversed(); else MPI_Comm_dup(MPI_COMM_WORLD, &again);
        move(0, 1, 3, 3 + i, again);
        MPI_Comm_free(&again);
    }
    int dimensions[] = {3}, periods[] = {1}, before, after;
    MPI_Cart_create(back, 1, dimensions, periods, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &before, &after);
    MPI_Sendrecv(data, 4, MPI_INT, after, 6, other, 64, MPI_INT, before, 6, grid, MPI_STATUS_IGNORE);
    /* {0} and {1, 2} reversed */
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, -rank, &halves);
    MPI_Intercomm_create(halves, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 2, 7, &between);
    if (rank == 0) MPI_Send(data, 5, MPI_INT, 1, 8, between); /* to 1 */
    if (rank == 1) MPI_Recv(other, 64, MPI_INT, ANY, between, MPI_STATUS_IGNORE);
    requests(back);
    one_sided(back);
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Isendrecv(data, 9, MPI_INT, after, 18, other, 10, MPI_INT, before, 18, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isendrecv(data, 9, MPI_INT, after, 19, other, 10, MPI_INT, ANY, grid, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request parts[2];
    MPI_Psend_init(data, 4, 2, MPI_INT, after, 20, grid, MPI_INFO_NULL, &parts[0]);
    MPI_Precv_init(other, 4, 2, MPI_INT, before, 20, grid, MPI_INFO_NULL, &parts[1]);
    MPI_Startall(2, parts);
    MPI_Pready_range(0, 3, parts[0]);
    MPI_Waitall(2, parts, MPI_STATUSES_IGNORE);
    MPI_Request_free(&parts[0]);
    MPI_Request_free(&parts[1]);
#endif
    MPI_Finalize();
    return 0;
}
