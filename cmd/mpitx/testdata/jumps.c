/* A timer's handler leaves MPI calls by siglongjmp, at any instruction of the library and the agent. Only functions are called from
 * which the libraries can be left. The signal goes to this thread only: another one would jump to a foreign stack. */
#define _GNU_SOURCE
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../../agent/include/mpitx.h"

static sigjmp_buf back;
static volatile sig_atomic_t jumps, ready;

static void leave(int sig)
{
    (void)sig;
    if (!ready) return;
    ready = 0;
    jumps++;
    siglongjmp(back, 1);
}

static void calls(int n, char *deep)
{
    char name[8] = {'n', (char)('a' + n % 7), 0}, space[64];
    int rank;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_name(MPI_COMM_SELF, name);
    mpitx_phase_begin(name);
    MPI_Type_size(MPI_INT, &rank);
    mpitx_phase_end();
    if (n % 16) calls(n - 1, space);
    if (deep) deep[0] = space[0] = 0;
}

int main(int argc, char **argv)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
    struct itimerspec each = {{0, 70000}, {0, 70000}}, none = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = leave};
    timer_t timer;
    int rank, most = argc > 1 ? atoi(argv[1]) : 20000;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigaction(SIGALRM, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &each, NULL);
    for (int n = 1; jumps < most; n++)
        if (sigsetjmp(back, 1) == 0) {
            ready = 1;
            calls(n, NULL);
            ready = 0;
        }
    ready = 0;
    timer_settime(timer, 0, &none, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("left %d calls\n", most);
    MPI_Finalize();
    return 0;
}
