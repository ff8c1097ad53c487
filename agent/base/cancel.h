/* cancel.h: disables cancellation while a thread holds a lock of the agent, since a cancelled thread would never
 * release it. Locks that are waited for without limit also block signals, as a handler may leave the lock by
 * siglongjmp. */
#ifndef MPITX_CANCEL_H
#define MPITX_CANCEL_H

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct cancel {
    int type, state;
};

/* Both are set: up to glibc 2.40, a pending cancellation of a thread of asynchronous type is carried out although the
 * state was disabled meanwhile, but not if the type is deferred. */
static inline struct cancel cancel_defer(void)
{
    struct cancel before;
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

static inline void cancel_restore(struct cancel before)
{
    pthread_setcancelstate(before.state, NULL);
    if (__builtin_expect(before.type != PTHREAD_CANCEL_DEFERRED, 0)) pthread_setcanceltype(before.type, NULL);
}

#define HOLD_SIGNAL(number) (UINT64_C(1) << ((number) - 1))

/* The signals to block: all but those that an instruction raises, which kill the process if they are blocked. */
#define HOLD_SIGNALS \
    (~(HOLD_SIGNAL(SIGILL) | HOLD_SIGNAL(SIGTRAP) | HOLD_SIGNAL(SIGBUS) | HOLD_SIGNAL(SIGFPE) | \
       HOLD_SIGNAL(SIGSEGV) | HOLD_SIGNAL(SIGSYS)))

struct hold {
    struct cancel cancel;
    uint64_t signals;
};

/* The C library's functions would not keep the signals that it and the sampler's timers use. */
static inline struct hold hold_begin(void)
{
    const uint64_t block = HOLD_SIGNALS;
    struct hold before = {.cancel = cancel_defer()};
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &block, &before.signals, sizeof block);
    return before;
}

static inline void hold_end(struct hold before)
{
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before.signals, NULL, sizeof before.signals);
    cancel_restore(before.cancel);
}

/* Takes a lock that is waited for without limit. */
static inline struct hold hold_lock(pthread_mutex_t *lock)
{
    struct hold before = hold_begin();
    pthread_mutex_lock(lock);
    return before;
}

static inline void hold_unlock(pthread_mutex_t *lock, struct hold before)
{
    pthread_mutex_unlock(lock);
    hold_end(before);
}

#endif
