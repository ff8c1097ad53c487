/* sampler_faked: replaces clock_gettime as libfaketime does: the clocks are wrong and fast, and each call blocks all signals for a moment.
 * Waits outside of MPI. Prints for how many milliseconds. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define YEAR 31536000
#define SPEED 1000

static long long kernel_ns(clockid_t id)
{
    struct timespec now;
    syscall(SYS_clock_gettime, id, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
    static long long start[2];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    long long ns = kernel_ns(id), *first = &start[id == CLOCK_REALTIME];
    if (*first == 0) *first = ns;
    ns += SPEED * (ns - *first);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    now->tv_sec = ns / 1000000000 + YEAR;
    now->tv_nsec = ns % 1000000000;
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    long long start = kernel_ns(CLOCK_MONOTONIC), end = start;
    while ((end = kernel_ns(CLOCK_MONOTONIC)) < start + 1000000000) usleep(1000);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%lld\n", (end - start) / 1000000);
    MPI_Finalize();
    return 0;
}
