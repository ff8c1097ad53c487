/* cancel.h: a thread that the application cancels would take a lock of the agent with it. While it has one, it is not cancelled. */
#ifndef MPITX_CANCEL_H
#define MPITX_CANCEL_H

#include <pthread.h>

struct cancel {
    int type, state;
};

/* Up to glibc 2.40, a signal on its way to a thread that may be cancelled at any time cancels it even if it has forbidden that by its
 * state since, but not if it has by its type. */
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
