/* clock.h: the agent's clock: ticks of a checked time stamp counter, else nanoseconds of CLOCK_MONOTONIC. */
#ifndef MPITX_CLOCK_H
#define MPITX_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#pragma GCC visibility push(hidden)

/* Set by clock_start if there is a counter with a constant rate on all cores and in all power states. */
extern int clock_counter;

static inline uint64_t clock_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC even if a preloaded library, such as libfaketime, changes what clock_gettime returns. */
static inline uint64_t clock_kernel(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Only valid if clock_counter is set. */
static inline uint64_t clock_read_counter(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return clock_monotonic();
#endif
}

static inline uint64_t clock_ticks(void)
{
    return __builtin_expect(clock_counter, 1) ? clock_read_counter() : clock_monotonic();
}

/* Chooses the clock and takes the first of the two pairs that calibrate it. */
void clock_start(void);

/* Takes the second pair, once. Before it, or within a millisecond of clock_start, the tick rate is only an estimate.
 * Returns the relative error bound of the rate. */
double clock_calibrate(void);

/* Converts a difference in ticks to nanoseconds. */
uint64_t clock_nanoseconds(uint64_t ticks);

/* Converts a difference in nanoseconds, of at most an hour, to ticks. */
uint64_t clock_from_nanoseconds(uint64_t nanoseconds);

#pragma GCC visibility pop

#endif
