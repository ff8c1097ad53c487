/* sampler.h: shared by the parts of the sampler. Each file needs only those below it.
 *
 *     sampler.c   the tool: start and end
 *     objects.c   objects that are created, named and freed
 *     thread.c    the thread that samples when no call does; pace.c: its back-off while all cores compute
 *     call.c      samples by the application's calls
 *     instant.c   takes a sample if one is due
 *     timer.c     when the thread wakes
 *     backoff.c   its back-off while values are constant, and calls that sample in its place
 *     take.c      one sample
 *     made.c      the objects that are bound when they are first sampled
 *     functions.c the totals of functions
 *     lock.c      the lock, and switching off
 *     due.c       when the next sample is due
 *
 * One lock (sampler_lock) guards the groups, the run's rows and MPI_T handles. It is held at most for one sample, or
 * for creating or freeing the handles of one object. */
#ifndef MPITX_SAMPLER_H
#define MPITX_SAMPLER_H

#include <sched.h>
#include <stdatomic.h>

#include "pvar/pvar.h"
#include "tools/tool.h"

#pragma GCC visibility push(hidden)

/* ---- due.c ---- */

enum sampler_state { SAMPLER_OFF, SAMPLER_ON, SAMPLER_DONE, SAMPLER_ENDED };
extern _Atomic int sampler_state;

/* Times are in ticks. */
struct sampler_schedule {
    uint64_t interval_ns, interval;
    _Atomic uint64_t next;  /* when the next sample is due */
    uint64_t postponed;     /* instants before it at which no sample is taken, to bound the cost */
    uint64_t took, longest; /* the last sample that was timed, and the longest one that postponed others */
    uint64_t next_align;    /* when to align with the thread's timers again */
    uint64_t end;           /* 0: no limit */
};
extern struct sampler_schedule sampler_schedule;

uint64_t sampler_first_due(void); /* the first instant that is neither sampled nor counted as missed */
/* Postpones the next sample after two long ones, so that sampling takes a bounded share of the time. One alone may have
 * been interrupted. Returns when it is due. */
uint64_t sampler_postpone(uint64_t next, uint64_t took);

/* To 1, 2 or 5 times a power of ten, so that the ranks of a job have few different notes. */
uint64_t sampler_round_up(uint64_t n);

/* ---- lock.c ---- */

/* Returns false if the lock could not be taken in time, or is held by this very thread, which left a sample by longjmp.
 * The sampler is then switched off. */
bool sampler_lock(void);
bool sampler_try_lock(void);
bool sampler_wait_for_lock(uint64_t max_ns);
bool sampler_holds_lock(void); /* this thread */
void sampler_unlock(void);

void sampler_follow_objects(bool on);

/* ---- functions.c: once, when sampling ends ---- */

void sampler_record_functions(void);

/* ---- take.c; under the lock ---- */

struct sampler_counts {
    uint64_t samples, limit; /* 0: no limit */
    uint64_t next_pair;      /* when the next clock pair is due */
    uint64_t library_skipped; /* rows of the library's variables skipped in samples of virtual variables only */
};
extern struct sampler_counts sampler_counts;

static inline bool sampler_takes(const struct pvar_group *group) { return !group->node || pvar.node_read; }
void sampler_take(uint64_t now);
/* on request of another tool; library: also the library's variables. False: sampling is over */
bool sampler_take_now(bool library);
void sampler_taken(uint64_t ticks); /* counts a sample */
void sampler_write(struct pvar_group *group, uint64_t ticks); /* records the values read, with this time */
void sampler_take_last(struct pvar_group *group); /* before its object is freed */

/* ---- made.c; under the lock: objects other than communicators and windows ---- */

extern unsigned sampler_made_waiting; /* how many are to be bound at the next sample */
extern _Atomic unsigned sampler_made_count; /* also without the lock */

struct sampler_made *sampler_made_add(int bind, union mpi_handle handle, const char *how, const char *name);
struct sampler_made *sampler_made_find(int bind, union mpi_handle handle); /* NULL: it is not followed */
struct pvar_group *sampler_made_group(struct sampler_made *made); /* NULL: it has none that is bound now */
void sampler_made_name(struct sampler_made *made, const char *name);
void sampler_made_end(struct sampler_made *made);
void sampler_made_bind(void); /* those that wait */
void sampler_made_world_ends(void);
void sampler_made_report(void); /* at the end: how many are not in the run */

/* Requests of a call of this thread, in the order of their places: what its places hold after the call decides whether
 * they exist on. */
void sampler_made_takes(int place); /* before sampler_made_find */
void sampler_made_take(struct sampler_made *request, int place);
void sampler_made_leave(union mpi_handle now, int place);
bool sampler_made_took(void); /* whether there are any; also without the lock */

static inline void sampler_bind_made(void)
{
    if (__builtin_expect(sampler_made_waiting != 0, 0) && !pvar.virtual_only && !pvar.stopped) sampler_made_bind();
}

/* ---- backoff.c; under the lock ---- */

struct sampler_backoff {
    bool compares;   /* compare each sample with the previous one */
    bool attends;    /* calls check at their start and end */
    bool outside;    /* the sample being taken is between calls */
    uint32_t pace;   /* the thread samples one in this many instants, see pace.c */
    uint32_t stride; /* the same while values are constant */
    int checks_left;
    atomic_bool inside;      /* a call has started and not ended, or that is unknown; also without the lock */
    _Atomic uint64_t starts; /* of calls; also without the lock */
    uint64_t starts_seen;    /* when the values of a sample began to be read */
};
extern struct sampler_backoff sampler_backoff;

bool sampler_attend_start(void); /* false: not possible, or calls are too frequent */
void sampler_attend_end(void);
void sampler_attend_sampled(void); /* a call has sampled */
bool sampler_attend_outside(void); /* whether the next sample is between calls; sets `outside` */
uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed); /* takes one sample and fills as below */
uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed); /* passed instants; returns how many */
void sampler_quiet_end(void); /* ends the back-off */

/* ---- timer.c; under the lock ---- */

#define SAMPLER_SHORTEST_NS UINT64_C(1000000)
extern bool sampler_often; /* the interval is so short that a timer is kept ahead of it */
extern bool sampler_full;  /* no core is free: each sample of the thread interrupts a process of the job */

void sampler_timer_start(void);
void sampler_rely_on_calls(void); /* if they can attend */
void sampler_timer_arm(uint64_t now, uint64_t due, bool late); /* a call took a sample; late: after the grace period */
uint64_t sampler_timer_grace(void); /* ticks after which a sample is late */
uint64_t sampler_timer_align(uint64_t due); /* the nearest due time that is aligned with the timers */
void sampler_timer_alert(void); /* a call came during back-off */
void sampler_wake_thread(void); /* any time */

/* By the thread: */
bool sampler_timer_make(void);
bool sampler_timer_wait(int *fired); /* which one, -1 for none. False: waiting is impossible. Without the lock */
void sampler_timer_sampled(uint64_t now, bool outside); /* it took a sample, in a long call or outside of calls */
void sampler_timer_again(int fired, uint64_t now, uint64_t due);

/* ---- instant.c; under the lock ---- */

void sampler_instant(uint64_t now, bool by_thread); /* takes a sample if one is due */
bool sampler_over(uint64_t now, uint64_t due); /* the duration; counts the instants that were due before */

/* ---- call.c, thread.c, objects.c ---- */

void sampler_call(struct chain_thread *thread); /* called by chain_countdown, without the lock */
void sampler_thread_start(void);
void sampler_object(const struct chain_object *object);
void sampler_follow_others(void); /* the objects of the selected variables */
void sampler_world_ending(void);

#pragma GCC visibility pop

#endif
