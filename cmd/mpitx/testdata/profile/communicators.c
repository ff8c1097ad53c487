/* communicators.c: steps that make communicators and free them ("free"), or do not ("leak"). The second argument is the number of steps. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT = 60, MESSAGES = 10 };

static int me;
static MPI_Comm kept[KEPT];

static void step(int i)
{
    MPI_Comm half, copy;
    MPI_Win window;
    int sum, value = i;
    MPI_Comm_split(MPI_COMM_WORLD, 0, me, &half); /* line: split */
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, half);
    MPI_Comm_dup(half, &copy);
    MPI_Comm_set_name(copy, "copy");
    MPI_Barrier(copy);
    if (i % 100 == 0) {
        MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, copy, &window);
        MPI_Win_free(&window);
    }
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

static void keep(int i)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &kept[i]);
    MPI_Barrier(kept[i]);
}

static void leak(void)
{
    int flag;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm); /* line: leak */
    MPI_Barrier(comm);
    MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE);
}

static void output(void)
{
    int value = 0;
    if (me == 0) MPI_Send(&value, 1, MPI_INT, 1, 4, MPI_COMM_WORLD); /* line: output */
    if (me == 1) MPI_Recv(&value, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A program that could not open a file. Its first collective calls are on no object. */
static void unopened(void)
{
    MPI_File none = MPI_FILE_NULL;
    MPI_File_sync(none);
    MPI_File_close(&none);
}

int main(int argc, char **argv)
{
    int leaks = argc > 1 && strcmp(argv[1], "leak") == 0, steps = argc > 2 ? atoi(argv[2]) : 1000, used = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    unopened();
    for (int i = 0; i < steps; i++) {
        if (leaks) leak();
        else step(i);
        if (!leaks && used < KEPT && i % (steps / KEPT) == 0) keep(used++);
    }
    for (int i = 0; i < MESSAGES; i++) output();
    for (int i = 0; i < used; i++) MPI_Barrier(kept[i]);
    MPI_Finalize();
    return 0;
}
