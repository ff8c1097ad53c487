/* cancel.h: disables cancellation while a thread holds a lock of the agent, since a cancelled thread would never release it. */
#ifndef MPITX_CANCEL_H
#define MPITX_CANCEL_H

#include <pthread.h>

struct cancel {
    int type, state;
};

/* Both are set: up to glibc 2.40, a pending cancellation of a thread of asynchronous type is carried out although the state was disabled
 * meanwhile, but not if the type is deferred. */
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
    if (__builtin_expect(before.type != PTHREAD_CANCEL_DEFERRED, 0))
        pthread_setcanceltype(before.type, NULL);
}

#endif
