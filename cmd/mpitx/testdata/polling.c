/* Jobs of 4 ranks whose ranks poll, or wait for collective operations that do not block. The argument says how. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me;
static MPI_Comm world, other;

static void compute(double seconds)
{
    double start = MPI_Wtime();
    while (MPI_Wtime() - start < seconds) usleep(1000);
}

/* No deadlock: 0 and 1 poll in turn for each other and for 2, which computes. */
static void alternating(void)
{
    int found, got = 0, value = 0;
    if (me >= 2) compute(60);
    while (!got) {
        MPI_Iprobe(1 - me, 7, world, &found, MPI_STATUS_IGNORE);
        MPI_Iprobe(2, 8, world, &got, MPI_STATUS_IGNORE);
    }
    (void)value;
}

/* No deadlock: the same with tests of requests on two communicators. */
static void testing(void)
{
    MPI_Request requests[3];
    int value[3], flag, index;
    if (me >= 2) compute(60);
    MPI_Irecv(&value[0], 1, MPI_INT, 1 - me, 7, world, &requests[0]);
    MPI_Irecv(&value[1], 1, MPI_INT, 2, 8, other, &requests[1]);
    MPI_Irecv(&value[2], 1, MPI_INT, 1 - me, 9, other, &requests[2]);
    for (;;) {
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        MPI_Testany(2, &requests[1], &index, &flag, MPI_STATUS_IGNORE);
    }
}

/* Nonblocking consensus in which 2 leaves too early: it does not enter the barrier. */
static void consensus(void)
{
    int size, out = me, in, flag, done = 0, entered = 0;
    MPI_Request sending, barrier = MPI_REQUEST_NULL;
    MPI_Status status;
    MPI_Comm_size(world, &size);
    MPI_Issend(&out, 1, MPI_INT, (me + 1) % size, 7, world, &sending);
    while (!done) {
        MPI_Iprobe(MPI_ANY_SOURCE, 7, world, &flag, &status);
        if (flag) {
            MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 7, world, MPI_STATUS_IGNORE);
            if (me == 2) {
                MPI_Wait(&sending, MPI_STATUS_IGNORE);
                break;
            }
        }
        if (entered) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else if (me != 2) {
            MPI_Test(&sending, &entered, MPI_STATUS_IGNORE);
            if (entered) MPI_Ibarrier(world, &barrier);
        }
    }
    if (me == 2) MPI_Recv(&in, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
}

static void mismatch(void)
{
    int value = 0, sum;
    MPI_Request request;
    if (me == 1)
        MPI_Ibcast(&value, 1, MPI_INT, 0, world, &request);
    else
        MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

/* 0 and 1 exchange messages for ever, the others wait for them. */
static void endless(void)
{
    double value = 1;
    for (int i = 0; me < 2; i++) {
        if (i % 2 == me)
            MPI_Ssend(&value, 1, MPI_DOUBLE, 1 - me, 1, world);
        else
            MPI_Recv(&value, 1, MPI_DOUBLE, 1 - me, 1, world, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(world);
}

/* 1 does not start its persistent barrier a second time; without persistent collectives, 1 does not enter a second one. */
static void persistent(void)
{
    int value;
    MPI_Request barrier;
#if MPI_VERSION >= 4
    MPI_Barrier_init(world, MPI_INFO_NULL, &barrier);
#endif
    for (int i = 0; i < 2; i++) {
        if (i == 1 && me == 1) MPI_Recv(&value, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
        MPI_Start(&barrier);
#else
        MPI_Ibarrier(world, &barrier);
#endif
        MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
}

/* Messages that cannot match were sent early, and others were received: 0 and 1 wait for each other. */
static void early(void)
{
    int value = 0, to = me ^ 1;
    MPI_Request request;
    MPI_Send(&value, 1, MPI_INT, to, 3, world); /* never received */
    MPI_Send(&value, 1, MPI_INT, to, 7, world);
    MPI_Isend(&value, 1, MPI_INT, to, 8, other, &request);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, world, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, to, MPI_ANY_TAG, other, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 7, world, &request);
    MPI_Send(&value, 1, MPI_INT, to, 7, world);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); /* the agent cannot know from whom */
    MPI_Irecv(&value, 1, MPI_INT, to, 4, world, &request);
    MPI_Send(&value, 1, MPI_INT, to, 4, world);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, to, 4, world, MPI_STATUS_IGNORE);
}

/* No deadlock: all wait for 1, which sleeps. 2 has received what 0 sends, and waits in the barrier for both. 3 has sent two messages, which will
 * be received later: their requests are complete. */
static void sleeper(void)
{
    int value = 0, answer;
    MPI_Request requests[3];
    if (me == 1) compute(60);
    if (me == 0) MPI_Sendrecv(&value, 1, MPI_INT, 2, 1, &answer, 1, MPI_INT, 1, 1, world, MPI_STATUS_IGNORE);
    if (me == 1) MPI_Send(&value, 1, MPI_INT, 0, 1, world);
    if (me == 1) MPI_Send(&value, 1, MPI_INT, 3, 2, world);
    if (me == 2) MPI_Recv(&value, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    if (me == 3) {
        MPI_Isend(&value, 1, MPI_INT, 0, 3, world, &requests[0]);
        MPI_Isend(&value, 1, MPI_INT, 2, 3, world, &requests[1]);
        MPI_Irecv(&answer, 1, MPI_INT, 1, 2, world, &requests[2]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(world);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kinds[] = {{"alternating", alternating}, {"testing", testing}, {"consensus", consensus}, {"mismatch", mismatch}, {"endless", endless},
                 {"persistent", persistent}, {"early", early}, {"sleeper", sleeper}};
    (void)argc;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    world = MPI_COMM_WORLD;
    MPI_Comm_dup(world, &other);
    MPI_Comm_set_name(other, "other");
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0) kinds[i].run();
    MPI_Finalize();
    return 0;
}
