/* reading.h: what one reading of the time stamp counter takes here, in nanoseconds, for programs that benchmark the agent. */
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

static double reading(void)
{
    enum { READINGS = 10000 };
    static volatile unsigned long long last;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < READINGS; i++) {
#if defined(__x86_64__)
        last = __rdtsc();
#elif defined(__aarch64__)
        unsigned long long ticks;
        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
        last = ticks;
#else
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        last = (unsigned long long)now.tv_nsec;
#endif
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    (void)last;
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / READINGS;
}
