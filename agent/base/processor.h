/* processor.h: what the kernel says about the processor: the time that threads ran, the time that they were ready to
 * run without a core, and the cores that they may use. No descriptor stays open: programs may close or count theirs. */
#ifndef MPITX_PROCESSOR_H
#define MPITX_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* CPU time in nanoseconds: of the calling thread; of the process with all its threads, also those that have ended. */
uint64_t processor_thread_time(void);
uint64_t processor_process_time(void);

/* How long a thread of the process has been ready without running, in nanoseconds. False: the kernel does not say. */
bool processor_thread_wait(uint32_t id, uint64_t *wait);

/* The same for all threads of the process but the agent's; what ended threads waited counts up to the last reading.
 * Reads now, or else for at most one in a hundred parts of the time, and otherwise returns the last value. Takes no
 * lock and allocates nothing. */
uint64_t processor_process_wait(bool now);

/* Whether the kernel says how long threads waited. Without it, processor_process_wait is an upper bound: the time that
 * the threads did not run, if the kernel has interrupted any of them. */
bool processor_waits_known(void);

/* How often the calling thread gave its core up to sleep, and how often it had to leave it. */
struct processor_switches {
    uint64_t voluntary, involuntary;
};
struct processor_switches processor_thread_switches(void);

enum { PROCESSOR_WORDS = 16 };

/* The cores that the calling thread may use, by number up to 1023, and how many they are; 0: unknown. */
uint32_t processor_cores(uint64_t cores[PROCESSOR_WORDS]);

/* The time that the process's control groups allow, in cores, and a number of the group that sets this limit; 0:
 * none. */
double processor_quota(uint64_t *group);

#pragma GCC visibility pop

#endif
