/* virtual.h: the agent's own variables, computed from intercepted calls with any MPI library.
 *
 * Totals have names such as mpitx:bytes_sent; one function's share is mpitx:bytes_sent/MPI_Send. Variables are numbered
 * from 0 to virtual_count()-1; the numbers are valid for one build of the agent. Variables cost nothing until
 * activated, and count from then on.
 *
 * Each thread counts for itself, without locks; virtual_read adds up. It may be called from any thread, also during an
 * MPI call, but not from two threads at once. It takes no lock and allocates nothing. */
#ifndef MPITX_VIRTUAL_H
#define MPITX_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

struct virtual_info {
    char name[96];
    const char *description;
    int var_class; /* enum mpitx_pvar_class of binding/shim/mpitx.h: LEVEL, COUNTER, AGGREGATE or TIMER */
    int datatype;  /* enum mpitx_datatype: always MPITX_TYPE_UINT64_T */
    bool grows;       /* false: times of initializing MPI, which are complete in the first sample */
    const char *unit; /* "ns", "B", or NULL for numbers */
};

int virtual_count(void);

/* False when there is no such variable. */
bool virtual_info(int index, struct virtual_info *info);

/* The variable's number, or -1. */
int virtual_find(const char *name);

/* Switches counting on (or off) for one variable; -1 if there is no such variable or no memory for the observer. A
 * variable that is activated later starts at 0; requests_outstanding then counts only requests made later. Not to be
 * called from two threads at once. */
int virtual_activate(int index, bool on);

/* The value now, where now is the current time of clock.h; 0 for a variable that was never activated. Never decreases
 * while MPI runs, except for requests_outstanding. Running calls count up to now. For each thread, times grow by no
 * more than the time since the last reading. */
uint64_t virtual_read(int index, uint64_t now);

/* One function's calls and time so far, including its form for large counts; false if there is no function with this
 * number (from 0), or it was not called. They are counted only while mpitx:calls and mpitx:time_in_mpi are both active,
 * as each call is then timed anyway. */
struct virtual_function {
    const char *name;
    uint64_t calls, time_ns;
};
bool virtual_function(int function, uint64_t now, struct virtual_function *figures);

/* Why the value is an upper bound; NULL: it is exact. */
const char *virtual_at_most(int index);

#endif
