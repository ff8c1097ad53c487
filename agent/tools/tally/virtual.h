/* virtual.h: the agent's own variables, computed from interception on any MPI.
 *
 * Totals have names such as mpitx:bytes_sent, one function's share is mpitx:bytes_sent/MPI_Send. Variables are numbered
 * 0..virtual_count()-1; numbers hold for one build of the agent. They cost nothing until activated, and count from then on.
 *
 * Threads count for themselves, without locks; virtual_read adds up. It may be called from any thread, also in the middle of an
 * MPI call, but from one at a time; it takes no lock and allocates nothing. */
#ifndef MPITX_VIRTUAL_H
#define MPITX_VIRTUAL_H

#include <stdbool.h>
#include <stdint.h>

struct virtual_info {
    char name[96];
    const char *description;
    int var_class; /* enum mpitx_pvar_class of ../shim/mpitx.h: LEVEL, COUNTER, AGGREGATE or TIMER */
    int datatype;  /* enum mpitx_datatype: MPITX_TYPE_UINT64_T always */
    bool grows;       /* false: times of initializing MPI, which are there from the first sample on */
    const char *unit; /* "ns", "B", or NULL for numbers */
};

int virtual_count(void);

/* False when there is no such variable. */
bool virtual_info(int index, struct virtual_info *info);

/* The variable's number, or -1. */
int virtual_find(const char *name);

/* Switches counting on (or off) for one variable; -1 when there is no such variable or no room for the observer. A
 * variable activated later starts at 0; requests_outstanding then knows only of requests made later. Not from two
 * threads at once. */
int virtual_activate(int index, bool on);

/* The value at a time of clock.h, the present; 0 for what was never activated. Never decreases while MPI runs, but for
 * requests_outstanding. Calls that go on count until then; times grow by no more than the time since the last reading, for each thread. */
uint64_t virtual_read(int index, uint64_t now);

/* One function's calls and time so far, together with its form for large counts; false if there is none of that number from 0, or it was
 * not called. They are counted while mpitx:calls and mpitx:time_in_mpi both are, as each call is timed then anyway. */
struct virtual_function {
    const char *name;
    uint64_t calls, time_ns;
};
bool virtual_function(int function, uint64_t now, struct virtual_function *figures);

/* Why the value is an upper bound; NULL: it is exact. */
const char *virtual_at_most(int index);

#endif
