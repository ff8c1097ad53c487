/* spawn: two ranks spawn three processes together, then rank 1 alone spawns two with MPI_Comm_spawn_multiple, in known numbers. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char data[4096];

static void send(int bytes, int to, MPI_Comm comm) { MPI_Send(data, bytes, MPI_CHAR, to, 1, comm); }
static void receive(MPI_Comm comm) { MPI_Recv(data, sizeof data, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE); }

static void child(const char *role, MPI_Comm parents, int rank, int size)
{
    MPI_Comm all;
    if (strcmp(role, "three") == 0) {
        if (rank == 2) receive(parents);          /* 100 bytes from 0 */
        if (rank == 0) send(200, 1, parents);     /* to 1 */
        send(10, (rank + 1) % size, MPI_COMM_WORLD);
        receive(MPI_COMM_WORLD);
        MPI_Intercomm_merge(parents, 1, &all);    /* parents first */
        if (rank == 1) send(300, 0, all);
        MPI_Comm_free(&all);
    } else {
        if (rank == 1) receive(parents);          /* 400 bytes from 1 */
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parents, three, two, all;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        child(argv[1], parents, rank, size);
        printf("child %s of %d with %d arguments\n", argv[1], size, argc);
        fflush(stdout);
        MPI_Comm_disconnect(&parents);
        MPI_Finalize();
        return 0;
    }
    char *roles[] = {"three", "a b", NULL};
    MPI_Comm_spawn(argv[0], roles, 3, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &three, MPI_ERRCODES_IGNORE);
    if (rank == 0) send(100, 2, three);
    if (rank == 1) receive(three);
    MPI_Intercomm_merge(three, 0, &all);
    if (rank == 0) receive(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&three);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        char *more[] = {"two", NULL}, *commands[] = {argv[0], argv[0]}, **arguments[] = {more, more};
        int most[] = {1, 1};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(2, commands, arguments, most, infos, 0, MPI_COMM_SELF, &two, MPI_ERRCODES_IGNORE);
        send(400, 1, two);
        MPI_Comm_disconnect(&two);
    }
    MPI_Finalize();
    return 0;
}
