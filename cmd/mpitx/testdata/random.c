/* A correct program of 4 ranks that takes random steps until it is killed. In each step a rank is late, so that the others wait for it. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { LARGE = 1 << 21 };

static int me, size;
static unsigned seed = 1; /* the same in all ranks */
static MPI_Comm comms[2], comm, copies[2], copy;
static MPI_Win window;
static char *large[2];

static int chance(int n)
{
    seed = seed * 1103515245u + 12345u;
    return (int)(seed >> 16) % n;
}

static int late_rank, milliseconds; /* in this step */

static void late(void)
{
    if (me == late_rank) usleep((unsigned)milliseconds * 1000);
}

/* Eager messages with several tags; received in another order. */
static void ring(void)
{
    int value = me, got, to = (me + 1) % size, from = (me + size - 1) % size;
    MPI_Send(&value, 1, MPI_INT, to, 1, comm);
    MPI_Send(&value, 1, MPI_INT, to, 2, comm);
    late();
    MPI_Recv(&got, 1, MPI_INT, from, 2, comm, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, chance(2) ? from : MPI_ANY_SOURCE, 1, comm, MPI_STATUS_IGNORE);
}

/* A large message is under way while both wait for another one. */
static void transfer(void)
{
    MPI_Request request;
    int to = me ^ 1, value = 0;
    MPI_Isend(large[0], LARGE, MPI_CHAR, to, 3, comm, &request);
    late();
    MPI_Recv(large[1], LARGE, MPI_CHAR, to, 3, comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 4, to, 4, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A root receives from all, in the order in which they come. */
static void gather(void)
{
    int value = me, root = chance(size), how = chance(3);
    if (me != root) {
        late();
        MPI_Ssend(&value, 1, MPI_INT, root, 5, comm);
        return;
    }
    late();
    for (int i = 1; i < size; i++) {
        MPI_Message message;
        MPI_Request request;
        int flag = 0;
        if (how == 0) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE);
        if (how == 1) {
            while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 5, comm, &flag, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        }
        if (how == 2) {
            MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &request);
            while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
    }
}

/* Nonblocking consensus. */
static void consensus(void)
{
    MPI_Request sending, barrier = MPI_REQUEST_NULL;
    MPI_Status status;
    int value = me, got, found, sent = 0, done = 0, to = (me + 1 + chance(size - 1)) % size;
    MPI_Issend(&value, 1, MPI_INT, to, 6, comm, &sending);
    late();
    while (!done) {
        MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &found, &status);
        if (found) MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 6, comm, MPI_STATUS_IGNORE);
        if (sent) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
        } else {
            MPI_Test(&sending, &sent, MPI_STATUS_IGNORE);
            if (sent) MPI_Ibarrier(comm, &barrier);
        }
    }
    MPI_Barrier(comm); /* or a message of the next consensus is received in this one */
}

/* Collectives, of which some let ranks go before the others come. */
static void collectives(void)
{
    MPI_Request request;
    int value = me, sum[4], root = chance(size), how = chance(6);
    late();
    switch (how) {
    case 0: MPI_Bcast(&value, 1, MPI_INT, root, comm); break;
    case 1: MPI_Reduce(&value, sum, 1, MPI_INT, MPI_SUM, root, comm); break;
    case 2: MPI_Allreduce(&value, sum, 1, MPI_INT, MPI_SUM, comm); break;
    case 3: MPI_Gather(&value, 1, MPI_INT, sum, 1, MPI_INT, root, comm); break;
    case 4:
        MPI_Iallreduce(&value, sum, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        break;
    default: MPI_Scan(&value, sum, 1, MPI_INT, MPI_SUM, comm);
    }
}

/* A root of a broadcast goes on, and sends what another one waits for before it enters the broadcast. */
static void overtaking(void)
{
    int value = 0;
    if (me == 1) {
        late();
        MPI_Recv(&value, 1, MPI_INT, 0, 8, comm, MPI_STATUS_IGNORE);
    }
    MPI_Bcast(&value, 1, MPI_INT, 0, comm);
    if (me == 0) {
        late();
        MPI_Send(&value, 1, MPI_INT, 1, 8, comm);
    }
}

static void lock(void)
{
    int value = me, target = chance(size);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, window);
    MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, window);
    MPI_Win_flush(target, window);
    late();
    MPI_Win_unlock(target, window);
    MPI_Barrier(comm);
}

static void *receiver(void *argument)
{
    MPI_Comm on = *(MPI_Comm *)argument;
    int value;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 9, on, MPI_STATUS_IGNORE);
    return NULL;
}

/* A thread receives, while the main thread waits for something else. */
static void threads(void)
{
    pthread_t thread;
    int value = me;
    pthread_create(&thread, NULL, receiver, &comm);
    late();
    MPI_Send(&value, 1, MPI_INT, (me + 1) % size, 9, comm);
    pthread_join(thread, NULL);
    MPI_Barrier(comm);
}

/* Persistent requests, and several at once. */
static void several(void)
{
    MPI_Request requests[4];
    int in[2], out = me, left = (me + size - 1) % size, right = (me + 1) % size, how = chance(3), n, indices[4];
    MPI_Recv_init(&in[0], 1, MPI_INT, left, 10, comm, &requests[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, right, 11, comm, &requests[1]);
    MPI_Send_init(&out, 1, MPI_INT, right, 10, comm, &requests[2]);
    MPI_Send_init(&out, 1, MPI_INT, left, 11, comm, &requests[3]);
    for (int i = 0; i < 2; i++) {
        late();
        MPI_Startall(4, requests);
        if (how == 0) MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        for (int done = 0; how > 0 && done < 4; done += n > 0 ? n : 0)
            (how == 1 ? MPI_Waitsome : MPI_Testsome)(4, requests, &n, indices, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < 4; i++) MPI_Request_free(&requests[i]);
}

/* Messages with one tag on two communicators: a large one is under way to a receive that is posted, while its receiver waits for the other. */
static void crossing(void)
{
    MPI_Request request;
    int to = (me + 1) % size, from = (me + size - 1) % size, value = me;
    MPI_Irecv(large[1], LARGE, MPI_CHAR, from, 12, comm, &request);
    late();
    MPI_Ssend(large[0], LARGE, MPI_CHAR, to, 12, comm);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 12, from, 12, copy, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(void)
{
    static void (*const steps[])(void) = {ring, transfer, gather, consensus, collectives, overtaking, lock, crossing, threads, several};
    int level, *memory;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[1]); /* the other way round */
    for (int i = 0; i < 2; i++) MPI_Comm_dup(comms[i], &copies[i]);
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    large[0] = calloc(LARGE, 1);
    large[1] = calloc(LARGE, 1);
    for (;;) {
        static const int some[] = {0, 0, 1, 10, 100, 1700}; /* the last one is long enough to look like a deadlock */
        milliseconds = some[chance(6)];
        late_rank = chance(size);
        int which = chance(2);
        comm = comms[which];
        copy = copies[which];
        MPI_Comm_rank(comm, &me);
        steps[chance(level == MPI_THREAD_MULTIPLE ? 10 : 8)]();
    }
}
