#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

int clock_counter;

static uint64_t first_ticks, first_time;
static double nanoseconds_per_tick = 1;
static double error_bound = 1;
static int calibrated;

/* Reads both clocks at one moment: the try of five that took the least time. Returns that time. */
static uint64_t pair(uint64_t *ticks, uint64_t *time)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = clock_ticks(), now = clock_kernel(), after = clock_ticks();
        if (after - before >= least) continue;
        least = after - before;
        *ticks = before + (after - before) / 2;
        *time = now;
    }
    return least;
}

static int has_counter(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & (1u << 8))) return 0; /* invariant TSC */
    /* The kernel monitors the TSC and uses another clock if it is unreliable. */
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (!file) return 1;
    char name[32] = "";
    char *line = fgets(name, sizeof name, file);
    fclose(file);
    return !line || strncmp(name, "tsc", 3) == 0 || strncmp(name, "kvm-clock", 9) == 0 ||
           strncmp(name, "hyperv", 6) == 0;
#elif defined(__aarch64__)
    return 1;
#else
    return 0;
#endif
}

void clock_start(void)
{
    if (first_time) return;
    clock_counter = has_counter();
    pair(&first_ticks, &first_time);
}

double clock_calibrate(void)
{
    if (!clock_counter) return 0;
    if (calibrated) return error_bound;
    uint64_t ticks, time, uncertain = pair(&ticks, &time);
    ticks -= first_ticks;
    time -= first_time;
    if (ticks == 0 || time == 0) return error_bound;
    nanoseconds_per_tick = (double)time / (double)ticks;
    error_bound = 2.0 * (double)uncertain / (double)ticks;
    calibrated = time >= 1000000;
    return error_bound;
}

uint64_t clock_nanoseconds(uint64_t ticks)
{
    if (!clock_counter) return ticks;
    if (!calibrated) clock_calibrate();
    return (uint64_t)((double)ticks * nanoseconds_per_tick);
}

uint64_t clock_from_nanoseconds(uint64_t nanoseconds)
{
    if (!clock_counter) return nanoseconds;
    if (!calibrated) clock_calibrate();
    return (uint64_t)((double)nanoseconds / nanoseconds_per_tick);
}
