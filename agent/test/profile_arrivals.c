/* profile_arrivals.c: four ranks come to collective calls, one of them last. Each part has a communicator with its name.
 * profile_arrivals [kill]: with kill, it ends by SIGKILL instead of MPI_Finalize. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CALLS = 24, MANY = 100 };
static int rank;
static volatile int *come; /* shared: how often each rank was about to come */

/* Made in a line of its own: those that one line makes are one in a profile. */
#define NAMED(comm, name)                                                                                              \
    MPI_Comm comm;                                                                                                     \
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);                                                                               \
    MPI_Comm_set_name(comm, name)

/* Returns when this rank may come: whoever is late, after all others of its communicator. */
static void arrive(MPI_Comm comm, int late)
{
    static int times;
    int own, size;
    times++;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    if (own == late) {
        MPI_Group of, world;
        MPI_Comm_group(comm, &of);
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        for (int i = 0, other; i < size; i++) {
            MPI_Group_translate_ranks(of, 1, &i, world, &other);
            while (i != own && come[other] < times) usleep(100);
        }
        MPI_Group_free(&of);
        MPI_Group_free(&world);
        usleep(5000);
    }
    come[rank] = times;
}

static void barriers(MPI_Comm comm, int late, int calls)
{
    for (int i = 0; i < calls; i++) {
        arrive(comm, late);
        MPI_Barrier(comm);
    }
}

static void reduce(MPI_Comm comm, int count)
{
    int in[1] = {1}, out[1];
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
}

/* Other collective calls of the communicator do not matter, whether they are profiled or not. */
static void between(void)
{
    NAMED(comm, "between");
    MPI_Request request;
    int number = 0;
    for (int i = 0; i < CALLS; i++) {
        if (i % 3 == 0) MPI_Bcast(&number, 1, MPI_INT, i % 4, comm);
        if (i % 5 == 0) {
            MPI_Ibarrier(comm, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        barriers(comm, 3, 1);
    }
    MPI_Comm_free(&comm);
}

static void halves(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_set_name(comm, "halves");
    barriers(comm, rank % 2, CALLS); /* ranks 2 and 1 */
    MPI_Comm_free(&comm);
}

/* Communicators of one line share rows. */
static void again(void)
{
    for (int i = 0; i < CALLS; i++) {
        NAMED(comm, "again");
        arrive(comm, 1);
        reduce(comm, 1);
        MPI_Comm_free(&comm);
    }
}

static void roots(void)
{
    NAMED(comm, "roots");
    int number = 0, sum;
    for (int i = 0; i < CALLS; i++) {
        arrive(comm, 2);
        MPI_Bcast(&number, 1, MPI_INT, 2, comm);
        MPI_Barrier(comm);
        arrive(comm, 0);
        MPI_Reduce(&number, &sum, 1, MPI_INT, MPI_SUM, 2, comm);
        MPI_Barrier(comm);
    }
    MPI_Comm_free(&comm);
}

/* A rank that does not count its calls for a while. */
static void paused(void)
{
    NAMED(comm, "paused");
    for (int i = 0; i < CALLS; i++) {
        if (rank == 2) MPI_Pcontrol(i % 2);
        barriers(comm, 0, 1);
    }
    MPI_Comm_free(&comm);
}

static void many(void)
{
    NAMED(comm, "many");
    for (int i = 0; i < MANY; i++) MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

static void *thread(void *of)
{
    for (int i = 0; i < CALLS; i++) MPI_Barrier(*(MPI_Comm *)of);
    return NULL;
}

/* Two threads call on a communicator in turn. */
static void threads(void)
{
    NAMED(comm, "threads");
    pthread_t other;
    pthread_create(&other, NULL, thread, &comm);
    pthread_join(other, NULL);
    thread(&comm);
    MPI_Comm_free(&comm);
}

/* Nobody can tell which communicators are the same, or what others waited for. */
static void unknown(void)
{
    MPI_Comm first, second, low, inter, merged;
    MPI_Request requests[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]);
    for (int i = 0; i < 2; i++) MPI_Wait(&requests[rank % 2 ? 1 - i : i], MPI_STATUS_IGNORE);
    MPI_Comm_set_name(first, "unknown");
    MPI_Comm_set_name(second, "unknown");
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &low);
    MPI_Intercomm_create(low, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 7, &inter);
    MPI_Intercomm_merge(inter, 0, &merged);
    MPI_Comm_set_name(inter, "unknown");
    MPI_Comm_set_name(merged, "unknown");
    for (int i = 0; i < CALLS; i++) {
        MPI_Barrier(first);
        MPI_Barrier(second);
        MPI_Barrier(merged);
        MPI_Barrier(inter);
        MPI_Barrier(MPI_COMM_SELF);
    }
    NAMED(empty, "unknown");
    for (int i = 0; i < CALLS; i++) reduce(empty, 0);
    for (int i = 0; i < CALLS; i++) {
        int number = rank, sum;
        MPI_Request request;
        MPI_Iallreduce(&number, &sum, 1, MPI_INT, MPI_SUM, empty, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&first), MPI_Comm_free(&second), MPI_Comm_free(&low), MPI_Comm_free(&inter), MPI_Comm_free(&merged);
    MPI_Comm_free(&empty);
}

int main(int argc, char **argv)
{
    int provided, unit;
    MPI_Aint bytes;
    MPI_Win window;
    void *shared, *own;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate_shared(rank == 0 ? 4096 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
    come = shared;
    MPI_Barrier(MPI_COMM_WORLD);
    between();
    halves();
    again();
    roots();
    paused();
    many();
    if (provided == MPI_THREAD_MULTIPLE) threads();
    unknown();
    MPI_Win_free(&window);
    if (argc > 1 && strcmp(argv[1], "kill") == 0) kill(getpid(), SIGKILL);
    MPI_Finalize();
    return 0;
}
