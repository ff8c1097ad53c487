/* sampler.h: what the parts of the sampler share.
 *
 *     sampler.c   the tool: start and end, the lock
 *     objects.c   communicators and windows that are made, named and freed
 *     take.c      one sample; when the next is due
 *     thread.c    the thread that fills in when no call samples
 *     quiet.c     what it does less of while nothing moves
 *     pace.c      what it does less of while all cores compute
 *     core.c      a core for it
 *     functions.c what the functions came to
 *
 * One lock (sampler_lock) guards the groups, the run's rows and MPI_T handles. It is taken at most for one sample, or for
 * making or freeing one object's handles. */
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
    uint64_t interval_ns, interval; /* interval in ticks */
    uint64_t limit, end_ticks; /* samples, and when to stop; 0: none */
    uint64_t samples;
    _Atomic uint64_t next_due;
    uint64_t next_pair;      /* when the next pair of clocks is due */
    uint64_t next_align;     /* when to suit the thread's timers again */
    bool threaded;           /* the helper thread runs */
    uint64_t library_skipped; /* rows of the library's that samples of the agent's own variables alone lack */
    bool compares;           /* the sample that is taken is compared with the one before, see quiet.c */
    uint32_t pace;           /* the thread looks at one of so many instants, see pace.c; */
    uint32_t stride;         /* while nothing moves, at one of SAMPLER_STRIDE times as many */
};

extern struct sampler sampler;

/* False when the lock could not be had in time, or is held by this very thread, which left a sample by longjmp: the sampler is
 * then switched off. */
bool sampler_lock(void);
bool sampler_try_lock(void);
void sampler_unlock(void);

/* Switches the sampler off, for good, with a note; the application goes on. With the lock held, or before start. */
void sampler_off(const char *why);

/* take.c; under the lock */
void sampler_take(uint64_t now);
void sampler_taken(uint64_t ticks); /* that one was taken */
void sampler_write(struct pvar_group *group, uint64_t ticks); /* the values that were read, as those of this time */
void sampler_take_last(struct pvar_group *group); /* its object is about to be freed */
void sampler_due(uint64_t now); /* takes one if one is due */
bool sampler_over(uint64_t now, uint64_t due); /* the duration has ended; counts what was due before and not taken */
void sampler_call(struct chain_thread *thread); /* of chain_countdown; without the lock */

/* objects.c */
void sampler_object(const struct chain_object *object);
void sampler_world_ending(void);

/* thread.c */
void sampler_thread_start(void);
void sampler_thread_arm(uint64_t now, uint64_t due, bool late); /* a sample was taken, late by the thread's measure or not */
uint64_t sampler_thread_grace(void); /* ticks after which a sample is late */
uint64_t sampler_thread_align(uint64_t due); /* the nearest time to be due at that suits the thread's timers */
void sampler_thread_stop(void);
void sampler_thread_alert(void); /* a call has come while the thread looked at some instants only */

/* quiet.c; under the lock, while sampler.compares */
uint64_t sampler_quiet_take(uint64_t now, uint64_t due, uint64_t passed); /* takes one sample, and fills, as below */
uint64_t sampler_quiet_fill(uint64_t now, uint64_t due, uint64_t passed); /* instants from due on that went by; how many got a sample */
void sampler_quiet_end(void); /* from here on the thread looks at every instant; any time under the lock */

/* core.c: whether the job has more cores here than processes; and those to go to where this process may not use them. */
bool sampler_core_free(cpu_set_t *other);

/* functions.c: once, when sampling ends. */
void sampler_tell_functions(void);

#pragma GCC visibility pop

#endif
