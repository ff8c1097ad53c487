/* event_cost: what recorded events cost: event_cost BLOCKS MESSAGES. With PERUSE twelve events of PERUSE make a message, otherwise it is one
 * event of MPI_T. Blocks of messages in which the library calls back alternate with blocks in which it does not. Prints the nanoseconds that
 * a message took, without and with, for each pair of blocks. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef PERUSE
#include "peruse_library.h"
#else
#include "events_library.h"
#endif

static void message(int i)
{
#ifdef PERUSE
    static const int story[] = {PERUSE_ACTIVATE, PERUSE_UNEXPECTED, PERUSE_COMPLETE};
    for (int k = 0; k < 12; k++) peruse_raise(story[k % 3], MPI_COMM_WORLD, 0, i, 8);
#else
    events_raise(EVENT_PAIR, MPI_COMM_NULL, i, 0.5, 0);
#endif
}

static void mute(int muted)
{
#ifdef PERUSE
    peruse_mute(muted);
#else
    events_mute(muted);
#endif
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double block(int messages, int muted)
{
    mute(muted);
    double start = now();
    for (int i = 0; i < messages; i++) message(i);
    return (now() - start) / messages;
}

int main(int argc, char **argv)
{
    int blocks = atoi(argv[1]), messages = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    block(messages, 0); /* warm up */
    for (int i = 0; i < blocks; i++) {
        double without = block(messages, 1);
        printf("%.1f %.1f\n", without, block(messages, 0));
    }
    mute(0);
    return MPI_Finalize();
}
