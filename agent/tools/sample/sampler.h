/* sampler.h: shared by the parts of the sampler.
 *
 *     sampler.c   the tool: start, end, lock
 *     objects.c   communicators and windows that are created, named and freed
 *     take.c      one sample; when the next one is due
 *     thread.c    the thread that samples when no call does
 *     attend.c    samples by calls that are about as rare as samples
 *     quiet.c     the thread's back-off while values are constant
 *     pace.c      its back-off while all cores compute
 *     core.c      a free core for it
 *     functions.c the totals of functions
 *
 * One lock (sampler_lock) guards the groups, the run's rows and MPI_T handles. It is held at most for one sample, or for creating or freeing
 * the handles of one object. */
#ifndef MPITX_SAMPLER_H
#define MPITX_SAMPLER_H

#include <sched.h>
#include <stdatomic.h>

#include "pvar/pvar.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

#define SAMPLER_STRIDE 4

enum sampler_state { SAMPLER_OFF, SAMPLER_ON, SAMPLER_DONE, SAMPLER_ENDED };

struct sampler {
    _Atomic int state;
    bool prepared;           /* there are variables to sample */
    bool on_request;         /* interval_ns=0: samples are taken only when another tool asks for one */
    uint64_t interval_ns, interval; /* interval in ticks */
    uint64_t limit, end_ticks; /* limits: number of samples and end time; 0: none */
    uint64_t samples;
    _Atomic uint64_t next_due;
    uint64_t postponed;      /* instants before next_due at which no sample is taken, to bound the cost */
    uint64_t took, longest;  /* ticks of the last sample that was timed, and of the longest one that postponed others */
    uint64_t next_pair;      /* when the next clock pair is due */
    uint64_t next_align;     /* when to align with the thread's timers again */
    bool threaded;           /* the helper thread runs */
    uint64_t library_skipped; /* rows of the library's variables skipped in samples of virtual variables only */
    bool compares;           /* compare each sample with the previous one, see quiet.c */
    bool attends;            /* calls check at their start and end, see attend.c */
    bool outside;            /* the sample being taken is between calls */
    uint32_t pace;           /* the thread samples one in this many instants, see pace.c*/
    uint32_t stride;         /* the same while values are constant: pace * SAMPLER_STRIDE */
};

extern struct sampler sampler;

/* Returns false if the lock could not be taken in time, or is held by this very thread, which left a sample by longjmp. The sampler is
 * then switched off. */
bool sampler_lock(void);
bool sampler_try_lock(void);
void sampler_unlock(void);

/* Switches the sampler off permanently, with a note; the application continues. With the lock held, or before the start. */
void sampler_off(const char *why);

/* take.c; under the lock */
void sampler_take(uint64_t now);
bool sampler_take_now(bool library); /* on request of another tool; library: also the library's variables. False: sampling is over */
void sampler_taken(uint64_t ticks); /* counts a sample */
void sampler_write(struct pvar_group *group, uint64_t ticks); /* records the values read, with this time */
void sampler_take_last(struct pvar_group *group); /* before its object is freed */
void sampler_report_depth(void); /* once, as a process that ends by _exit reports nothing at the end */
void sampler_due(uint64_t now); /* takes a sample if one is due */
uint64_t sampler_first_due(void); /* the first instant that is neither sampled nor counted as missed */
bool sampler_over(uint64_t now, uint64_t due); /* whether the duration has ended; then counts the instants that were due before */
void sampler_call(struct chain_thread *thread); /* called by chain_countdown, without the lock */

/* objects.c */
void sampler_object(const struct chain_object *object);
void sampler_world_ending(void);

/* thread.c */
void sampler_thread_start(void);
void sampler_thread_arm(uint64_t now, uint64_t due, bool late); /* a sample was taken; late: after the grace period */
uint64_t sampler_thread_grace(void); /* ticks after which a sample is late */
uint64_t sampler_thread_align(uint64_t due); /* the nearest due time that is aligned with the thread's timers */
void sampler_thread_stop(void);
void sampler_thread_alert(void); /* a call came during back-off */

/* attend.c */
bool sampler_attend_start(void); /* false: not possible, or calls are too frequent. Under the lock, as all but sampler_attend_call */
void sampler_attend_end(void);
bool sampler_attend_outside(void); /* whether the next sample is between calls; sets sampler.outside */
bool sampler_attend_still_outside(void); /* after its values were read: whether no call has started meanwhile */
void sampler_attend_call(bool begins, uint64_t now); /* at the start and end of a call */

/* quiet.c; under the lock, while sampler.compares */
uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed); /* takes one sample and fills as below */
uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed); /* fills passed instants from due on; returns how many */
void sampler_quiet_end(void); /* ends the back-off; any time under the lock */

/* functions.c: once, when sampling ends. */
void sampler_record_functions(void);

#pragma GCC visibility pop

#endif
