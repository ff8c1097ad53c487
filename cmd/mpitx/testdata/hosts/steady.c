/* steady.c: an application that goes on until the file DIR/stop is there: steady DIR. Each rank leaves its process identifier in DIR/pid.RANK,
 * and prints at its end how often it has called MPI_Ibcast. It sleeps in between: ranks that spin would need a processor each. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

static const char *dir;
static int rank;

/* Leaves the process identifier in DIR/NAME.RANK. */
static void leave(const char *name)
{
    char path[4096], hidden[4096];
    snprintf(path, sizeof path, "%s/%s.%d", dir, name, rank);
    snprintf(hidden, sizeof hidden, "%s/new.%d", dir, rank);
    FILE *f = fopen(hidden, "w");
    if (!f) MPI_Abort(MPI_COMM_WORLD, 9);
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    rename(hidden, path);
}

static void await(MPI_Request *request)
{
    int done = 0;
    for (MPI_Test(request, &done, MPI_STATUS_IGNORE); !done; MPI_Test(request, &done, MPI_STATUS_IGNORE)) usleep(500);
}

static void pass(int send, int peer)
{
    MPI_Request request;
    int word = 0;
    if (send) MPI_Isend(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    else MPI_Irecv(&word, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &request);
    await(&request);
}

static int finalizing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    leave("last");
    return MPI_SUCCESS;
}

/* MPICH over UCX's TCP: in MPI_Finalize a rank waits for an answer of each to which it has sent something. It waits in vain for one that
 * has polled while others were there already, and is gone from there. So all send something to rank 0, which comes last, without a poll:
 * when the others have deleted the attributes of MPI_COMM_SELF, which MPI_Finalize does first. */
static void farewell(int size)
{
    char path[4096];
    int key;
    for (int send = rank != 0, k = 0; k < 2; send = !send, k++)
        for (int other = 1; other < size; other++)
            if (rank == 0 || rank == other) pass(send, rank ? 0 : other);
    if (rank != 0) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalizing, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
        return;
    }
    for (int other = 1; other < size; other++)
        for (snprintf(path, sizeof path, "%s/last.%d", dir, other); access(path, F_OK) != 0;) usleep(1000);
    usleep(1000000);
}

int main(int argc, char **argv)
{
    int size, stop = 0;
    long calls = 0;
    char file[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    dir = argv[1];
    leave("pid");
    snprintf(file, sizeof file, "%s/stop", dir);
    while (!stop) {
        MPI_Request request;
        if (rank == 0) stop = access(file, F_OK) == 0;
        MPI_Ibcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
        calls++;
        await(&request);
        usleep(500);
    }
    printf("rank %d: %ld calls\n", rank, calls);
    fflush(stdout);
    farewell(size);
    MPI_Finalize();
    return 0;
}
