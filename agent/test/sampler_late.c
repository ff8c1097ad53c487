/* sampler_late: creates a window, after which the library may list more variables, while two threads allocate from the main thread's arena.
 * Prints side effects of copies of the process: pthread_atfork handlers, SIGCHLD, children seen by a wait; and whether there was a copy, by
 * the page faults of children. */
#include <malloc.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int over, forks, children, found;
static void forked(void) { forks++; }
static void ended(int sig) { (void)sig; children++; }

static void *allocate(void *unused)
{
    while (!over) {
        void *volatile p = malloc(3000);
        free(p);
    }
    return unused;
}

static void *reap(void *unused)
{
    while (!over) {
        found += waitpid(-1, NULL, WNOHANG) > 0;
        usleep(100);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[3];
    MPI_Win window;
    struct rusage usage;
    int rank, flag;
    static int memory[16];
    mallopt(M_ARENA_MAX, 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    signal(SIGCHLD, ended);
    pthread_atfork(forked, NULL, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, i < 2 ? allocate : reap, NULL);
    PMPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    for (int i = 0; i < 200; i++) {
        MPI_Initialized(&flag);
        usleep(100);
    }
    MPI_Win_free(&window);
    over = 1;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("rank %d: %d handlers, %d signals, %d found, %s\n", rank, forks, children, found, usage.ru_minflt ? "copied" : "not copied");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
