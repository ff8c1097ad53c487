/* trace_known.c: a known number of calls and messages. The sizes of the messages between two ranks are all different, so that a test can
 * tell which send belongs to which receive.
 *
 *     trace_known exchange N    N rounds of every way to send and receive, with the messages printed by rank 0 at the end
 *     trace_known threads N     two threads send and receive with the same communicator and tag
 *     trace_known streams N     five threads, each with a communicator or tags of its own
 *     trace_known any N         two threads of rank 0 that send with tags of their own, and receive with any tag
 *     trace_known partitioned N  partitioned messages, and others of the same tag; with MPI-4
 *     trace_known left N        N receives that an error handler leaves by longjmp
 *     trace_known order N       N rounds of receives that a persistent one is among, completed in reverse
 *     trace_known parts N       N rounds; MPI_Pcontrol leaves out the post of a receive that completes after a later one
 *     trace_known truncated N   N rounds; the first receive of each has too small a buffer
 *     trace_known handler N     N messages to each side, while a signal handler calls MPI_Comm_rank; prints the number of its calls
 *     trace_known stepped N     calls that a signal handler interrupts after each of their first N instructions, one after another, to call
 *                               MPI_Comm_rank; prints the number of its calls
 *     trace_known abort N       calls MPI_Abort after N rounds
 *     trace_known kill N        all ranks are killed after N rounds */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "include/mpitx.h"

enum { MOST = 1 << 20 };
static char out[8][MOST], in[8][MOST];
static int rank, size, right, left;
static long sent;
static int next_size = 1;
enum { TRAP = 256 }; /* the flag with which an x86 processor traps after each instruction */

static int bytes(void) { return next_size++ % MOST; }

/* Posts many receives and waits for them in reverse order. */
static void backwards(MPI_Comm comm, int tag)
{
    MPI_Request receives[6], sends[6];
    for (int i = 0; i < 6; i++) MPI_Irecv(in[i], MOST, MPI_CHAR, i % 2 ? left : MPI_ANY_SOURCE, tag, comm, &receives[i]);
    MPI_Barrier(comm);
    for (int i = 0; i < 6; i++) MPI_Isend(out[i], bytes(), MPI_CHAR, right, tag, comm, &sends[i]);
    for (int i = 5; i >= 0; i--) MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    MPI_Waitall(6, sends, MPI_STATUSES_IGNORE);
    sent += 6;
}

/* Waits for all at once, for the receives in reverse order. */
static void together(MPI_Comm comm, int tag)
{
    MPI_Request all[8];
    for (int i = 0; i < 4; i++) MPI_Irecv(in[i], MOST, MPI_CHAR, left, tag, comm, &all[3 - i]);
    MPI_Barrier(comm);
    for (int i = 0; i < 4; i++) MPI_Isend(out[i], bytes(), MPI_CHAR, right, tag, comm, &all[4 + i]);
    MPI_Waitall(8, all, MPI_STATUSES_IGNORE);
    sent += 4;
}

static void persistent(MPI_Comm comm, int tag)
{
    MPI_Request requests[2];
    MPI_Send_init(out[0], bytes(), MPI_CHAR, right, tag, comm, &requests[0]);
    MPI_Recv_init(in[0], MOST, MPI_CHAR, MPI_ANY_SOURCE, tag, comm, &requests[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sent++;
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void probed(MPI_Comm comm, int tag)
{
    MPI_Request sends[2];
    MPI_Message first, second;
    MPI_Status status;
    for (int i = 0; i < 2; i++) MPI_Isend(out[i], bytes(), MPI_CHAR, right, tag, comm, &sends[i]);
    MPI_Mprobe(left, tag, comm, &first, &status);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &second, &status);
    MPI_Mrecv(in[1], MOST, MPI_CHAR, &second, MPI_STATUS_IGNORE); /* the second message first */
    MPI_Mrecv(in[0], MOST, MPI_CHAR, &first, MPI_STATUS_IGNORE);
    MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
    sent += 2;
}

static void exchange(MPI_Comm comm, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Request requests[2];
        mpitx_phase_begin("exchange");
        MPI_Sendrecv(out[0], bytes(), MPI_CHAR, right, 1, in[0], MOST, MPI_CHAR, left, 1, comm, MPI_STATUS_IGNORE);
        MPI_Irecv(in[1], MOST, MPI_CHAR, MPI_ANY_SOURCE, 2, comm, &requests[0]);
        MPI_Isend(out[1], bytes(), MPI_CHAR, right, 2, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        if (rank % 2) MPI_Recv(in[0], MOST, MPI_CHAR, left, 3, comm, MPI_STATUS_IGNORE);
        MPI_Send(out[0], bytes(), MPI_CHAR, right, 3, comm);
        if (rank % 2 == 0) MPI_Recv(in[0], MOST, MPI_CHAR, left, 3, comm, MPI_STATUS_IGNORE);
        MPI_Send(out[0], 1, MPI_CHAR, MPI_PROC_NULL, 3, comm);
        sent += 3;
        mpitx_phase_end();
        backwards(comm, 4);
        together(comm, 7);
        persistent(comm, 5);
        probed(comm, 6);
        MPI_Allreduce(MPI_IN_PLACE, &(int){1}, 1, MPI_INT, MPI_SUM, comm);
    }
}

/* ---- threads ---- */

static int rounds;

static void *sender(void *argument)
{
    long first = (long)argument;
    for (int i = 0; i < rounds; i++) MPI_Send(out[first], 2 * i + (int)first + 1, MPI_CHAR, right, 1, MPI_COMM_WORLD);
    return NULL;
}

static void *receiver(void *argument)
{
    (void)argument;
    for (int i = 0; i < 2 * rounds; i++) MPI_Recv(in[0], MOST, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(void)
{
    pthread_t all[3];
    pthread_create(&all[0], NULL, receiver, NULL);
    pthread_create(&all[1], NULL, sender, (void *)0L);
    pthread_create(&all[2], NULL, sender, (void *)1L);
    for (int i = 0; i < 3; i++) pthread_join(all[i], NULL);
    sent = 2 * rounds;
    MPI_Barrier(MPI_COMM_WORLD);
    rounds = 10; /* one after the other: in order */
    sender((void *)0L);
    for (int i = 0; i < rounds; i++) MPI_Recv(in[0], MOST, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent += rounds;
}

enum { STREAMS = 5 };
static MPI_Comm comms[STREAMS];

static void *stream(void *argument)
{
    long number = (long)argument;
    int there = 10 + (int)number, back = 20 + (int)number;
    MPI_Comm comm = comms[number];
    for (int i = 0; i < rounds; i++) {
        int count = STREAMS * i + (int)number + 1;
        MPI_Request request;
        switch (number) {
        case 0:
        case 1: MPI_Sendrecv(out[number], count, MPI_CHAR, right, 1, in[number], MOST, MPI_CHAR, left, 1, comm, MPI_STATUS_IGNORE); break;
        case 2:
        case 3: MPI_Sendrecv_replace(out[number], count, MPI_CHAR, rank % 2 ? left : right, rank % 2 ? back : there, rank % 2 ? left : right, rank % 2 ? there : back, comm, MPI_STATUS_IGNORE); break;
        default:
#if MPI_VERSION >= 4
            MPI_Isendrecv(out[number], count, MPI_CHAR, right, 1, in[number], count, MPI_CHAR, left, 1, comm, &request); /* MPICH reports the posted size */
#else
            MPI_Irecv(in[number], MOST, MPI_CHAR, left, 1, comm, &request);
            MPI_Send(out[number], count, MPI_CHAR, right, 1, comm);
#endif
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    return NULL;
}

static void *any_tag(void *argument)
{
    long number = (long)argument;
    MPI_Sendrecv(out[number], 1 + (int)number, MPI_CHAR, 1, 1 + (int)number, in[number], MOST, MPI_CHAR, 1, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

/* Rank 1 answers when both threads of rank 0 are in their calls. */
static void any(void)
{
    for (int i = 0; i < rounds; i++) {
        pthread_t all[2];
        for (long k = 0; k < 2 && rank == 0; k++) pthread_create(&all[k], NULL, any_tag, (void *)k);
        for (int k = 0; k < 2 && rank == 0; k++) pthread_join(all[k], NULL);
        for (int k = 0; k < 2 && rank == 1; k++) MPI_Recv(in[k], MOST, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2 && rank == 1; k++) MPI_Send(out[k], bytes(), MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    sent = 2 * rounds;
}

/* Two streams have the same communicator, and differ in their tags. */
static void streams(void)
{
    pthread_t all[STREAMS];
    for (int i = 0; i < STREAMS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm shared = comms[3];
    comms[3] = comms[2];
    for (long i = 0; i < STREAMS; i++) pthread_create(&all[i], NULL, stream, (void *)i);
    for (int i = 0; i < STREAMS; i++) pthread_join(all[i], NULL);
    sent = STREAMS * rounds;
    comms[3] = shared;
    for (int i = 0; i < STREAMS; i++) MPI_Comm_free(&comms[i]);
}

#if MPI_VERSION >= 4
static MPI_Request channels[4];

static void *ready(void *partition)
{
    for (int k = 0; k < 2; k++) MPI_Pready((int)(long)partition, channels[k]);
    return NULL;
}
#endif

/* Partitioned messages of two requests with the same communicator, peer and tag, between others that keep their numbers. They start in another
 * order than they were initialized, twice, and threads mark their partitions as ready. */
static void partitioned(void)
{
#if MPI_VERSION >= 4
    for (int i = 0; i < rounds; i++) {
        MPI_Request others[2];
        pthread_t threads[2];
        for (int k = 0; k < 2; k++) {
            int count = bytes();
            MPI_Psend_init(out[k], 2, count, MPI_CHAR, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &channels[k]);
            MPI_Precv_init(in[k], 2, count, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &channels[2 + k]);
        }
        for (int k = 0; k < 2; k++) {
            MPI_Start(&channels[1]);
            MPI_Start(&channels[0]);
            MPI_Startall(2, &channels[2]);
            MPI_Irecv(in[2], MOST, MPI_CHAR, left, 1, MPI_COMM_WORLD, &others[0]);
            MPI_Isend(out[2], bytes(), MPI_CHAR, right, 1, MPI_COMM_WORLD, &others[1]);
            MPI_Waitall(2, others, MPI_STATUSES_IGNORE);
            for (long n = 0; n < 2; n++) pthread_create(&threads[n], NULL, ready, (void *)n);
            for (int n = 0; n < 2; n++) pthread_join(threads[n], NULL);
            MPI_Wait(&channels[3], MPI_STATUS_IGNORE);
            MPI_Waitall(3, channels, MPI_STATUSES_IGNORE);
            sent += 3;
        }
        for (int k = 0; k < 4; k++) MPI_Request_free(&channels[k]);
    }
#endif
}

static jmp_buf back;

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

/* The messages are larger than the buffers. */
static void left_calls(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int i = 0; i < rounds; i++) {
        MPI_Send(out[0], 8, MPI_CHAR, right, 9, MPI_COMM_WORLD);
        if (!setjmp(back)) MPI_Recv(in[0], 1, MPI_CHAR, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Errhandler_free(&handler);
}

/* The receive that is started comes between the others. */
static void ordered(void)
{
    MPI_Request receives[3], sends[3];
    for (int i = 0; i < rounds; i++) {
        MPI_Recv_init(in[1], MOST, MPI_CHAR, left, 4, MPI_COMM_WORLD, &receives[1]);
        MPI_Irecv(in[0], MOST, MPI_CHAR, left, 4, MPI_COMM_WORLD, &receives[0]);
        MPI_Start(&receives[1]);
        MPI_Irecv(in[2], MOST, MPI_CHAR, left, 4, MPI_COMM_WORLD, &receives[2]);
        for (int k = 0; k < 3; k++) MPI_Isend(out[k], bytes(), MPI_CHAR, right, 4, MPI_COMM_WORLD, &sends[k]);
        for (int k = 2; k >= 0; k--) MPI_Wait(&receives[k], MPI_STATUS_IGNORE);
        MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
        MPI_Request_free(&receives[1]);
    }
    sent = 3 * rounds;
}

static void parts(void)
{
    MPI_Request receives[2], sends[3];
    for (int i = 0; i < rounds; i++) {
        MPI_Pcontrol(0);
        MPI_Irecv(in[0], MOST, MPI_CHAR, left, 5, MPI_COMM_WORLD, &receives[0]);
        MPI_Pcontrol(1);
        MPI_Irecv(in[1], MOST, MPI_CHAR, left, 5, MPI_COMM_WORLD, &receives[1]);
        for (int k = 0; k < 3; k++) MPI_Isend(out[k], bytes(), MPI_CHAR, right, 5, MPI_COMM_WORLD, &sends[k]);
        for (int k = 1; k >= 0; k--) MPI_Wait(&receives[k], MPI_STATUS_IGNORE);
        MPI_Recv(in[0], MOST, MPI_CHAR, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    }
    sent = 3 * rounds;
}

static void truncated(void)
{
    MPI_Request receive, sends[3];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 3; k++) MPI_Isend(out[k], 2 + bytes(), MPI_CHAR, right, 5, MPI_COMM_WORLD, &sends[k]);
        int rc;
        if (i % 2) {
            rc = MPI_Recv(in[0], 1, MPI_CHAR, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(in[0], 1, MPI_CHAR, left, 5, MPI_COMM_WORLD, &receive);
            rc = MPI_Wait(&receive, MPI_STATUS_IGNORE);
        }
        if (rc == MPI_SUCCESS) abort();
        for (int k = 0; k < 2; k++) MPI_Recv(in[0], MOST, MPI_CHAR, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
    }
    sent = 3 * rounds;
}

static volatile long handled;

static void handle(int signal)
{
    int unused;
    (void)signal;
    if (gettid() != getpid()) return; /* UCX has a thread that blocks no signal */
    handled++;
    MPI_Comm_rank(MPI_COMM_WORLD, &unused);
}

/* The handler interrupts calls, their recording, and what is between calls. */
static void interrupted_calls(void)
{
    const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < rounds; i++)
        MPI_Sendrecv(out[0], 8, MPI_CHAR, right, 1, in[0], 8, MPI_CHAR, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    setitimer(ITIMER_REAL, &never, NULL);
    sent = handled;
}

static volatile long steps;
static volatile bool stepping;

/* Lets the processor go on alone after the last step. */
static void step(int signal, siginfo_t *info, void *context)
{
    (void)info;
    if (!stepping || --steps > 0) return;
    stepping = false;
#if defined(__x86_64__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
#else
    (void)context;
#endif
    handle(signal);
}

/* On other processors each call is interrupted before it begins. */
static void step_after(long instructions)
{
    steps = instructions;
    stepping = true;
#if defined(__x86_64__)
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP);
#else
    steps = 1;
    raise(SIGTRAP);
#endif
}

static void stepped_calls(void)
{
    struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    for (long i = 1; i <= rounds; i++) {
        step_after(i);
        MPI_Sendrecv(out[0], 8, MPI_CHAR, rank, 1, in[0], 8, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (stepping) continue;
        step_after(i);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        while (stepping) continue;
    }
    sent = handled;
#if defined(__x86_64__)
    MPI_Comm comm; /* through all instructions of calls in which the agent holds locks */
    step_after(LONG_MAX);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_free(&comm);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(unsigned long long)TRAP);
#endif
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exchange";
    int level;
    rounds = argc > 2 ? atoi(argv[2]) : 10;
    bool threaded = strcmp(what, "threads") == 0 || strcmp(what, "streams") == 0 || strcmp(what, "any") == 0 ||
                    strcmp(what, "partitioned") == 0;
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    if (strcmp(what, "threads") == 0) {
        threads();
    } else if (strcmp(what, "streams") == 0) {
        streams();
    } else if (strcmp(what, "any") == 0) {
        any();
    } else if (strcmp(what, "left") == 0) {
        left_calls();
    } else if (strcmp(what, "order") == 0) {
        ordered();
    } else if (strcmp(what, "parts") == 0) {
        parts();
    } else if (strcmp(what, "truncated") == 0) {
        truncated();
    } else if (strcmp(what, "handler") == 0) {
        interrupted_calls();
    } else if (strcmp(what, "stepped") == 0) {
        stepped_calls();
    } else if (strcmp(what, "partitioned") == 0) {
        partitioned();
    } else {
        MPI_Comm other;
        exchange(MPI_COMM_WORLD, rounds);
        if (strcmp(what, "exchange") != 0) MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(what, "abort") == 0 && rank == 0) MPI_Abort(MPI_COMM_WORLD, 3);
        if (strcmp(what, "abort") == 0) pause();
        if (strcmp(what, "kill") == 0) { /* the launcher kills all as soon as one has ended */
            sleep(1);
            raise(SIGKILL);
        }
        MPI_Comm_dup(MPI_COMM_WORLD, &other);
        MPI_Comm_set_name(other, "other");
        exchange(other, rounds);
        MPI_Comm_free(&other);
    }
    printf("%ld\n", sent);
    MPI_Finalize();
    return 0;
}
