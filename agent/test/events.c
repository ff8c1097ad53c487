/* events: raises known numbers of events: events [kill]. With kill, it is killed instead of ending. events many N: makes N communicators
 * and raises two events of each. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "events_library.h"

enum { PAIRS = 1000, THREADS = 4, EACH = 500 };

static void *raise_some(void *unused)
{
    for (int i = 0; i < EACH; i++) events_raise(EVENT_PAIR, MPI_COMM_NULL, i, -i, EVENTS_UNORDERED);
    return unused;
}

static void interrupt(int signal)
{
    (void)signal;
    events_raise(EVENT_PAIR, MPI_COMM_NULL, 0, 0, EVENTS_IN_HANDLER);
}

static void make_many(int n)
{
    MPI_Comm *all = malloc((size_t)n * sizeof *all);
    for (int i = 0; i < n; i++) MPI_Comm_dup(MPI_COMM_SELF, &all[i]);
    for (int i = 0; i < n; i++) events_raise(EVENT_COMM, all[i], i, 0, 0), events_raise(EVENT_MORE, all[i], i, 0, 0);
    for (int i = 0; i < n; i++) MPI_Comm_free(&all[i]);
}

static void raise_in_window(void)
{
    MPI_Win win, freed;
    int memory[4];
    MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i < 4; i++) events_raise_win(win, 10 + i);
    freed = win;
    MPI_Win_free(&win);
    events_raise_win(freed, 0);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm copy;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &(int){0});
    if (argc > 2) {
        make_many(atoi(argv[2]));
        return MPI_Finalize();
    }
    printf("safety %d %d\n", events_safety(EVENT_PAIR) == MPI_T_CB_REQUIRE_THREAD_SAFE, events_safety(EVENT_CRASHING));
    for (int i = 0; i < PAIRS; i++) events_raise(EVENT_PAIR, MPI_COMM_NULL, i, 0.5 * i, 0);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, raise_some, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    signal(SIGUSR1, interrupt);
    raise(SIGUSR1);
    events_raise(EVENT_PAIR, MPI_COMM_NULL, -1, 0, EVENTS_BACK);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    for (int i = 0; i < 3; i++) events_raise(EVENT_COMM, MPI_COMM_WORLD, i, 0, 0);
    for (int i = 0; i < 5; i++) events_raise(EVENT_COMM, copy, 100 + i, 0, 0);
    MPI_Comm freed = copy;
    MPI_Comm_free(&copy);
    events_raise(EVENT_COMM, freed, 0, 0, 0);
    events_raise(EVENT_COMM, freed, 1, 0, EVENTS_FREED);
    raise_in_window();
    for (int i = 0; i < 2; i++) events_raise(EVENT_UNREADABLE, MPI_COMM_NULL, i, 0, 0);
    events_raise(EVENT_WIDE, MPI_COMM_NULL, 1, 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) events_drop(EVENT_PAIR, 7);
    printf("forbidden %ld\n", events_forbidden());
    fflush(stdout);
    if (argc > 1) kill(getpid(), SIGKILL);
    MPI_Finalize();
    events_raise(EVENT_PAIR, MPI_COMM_NULL, 0, 0, EVENTS_FREED);
    printf("ended\n");
    return 0;
}
