/* process.c: facts about this process; threads. */
#define _GNU_SOURCE
#include <signal.h>

#include "base/agent.h"

struct agent_process agent_process = {.rank = -1, .size = -1, .thread_level = -1, .library = ""};

int agent_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    int rc = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (rc != 0) return rc;
    rc = pthread_create(thread, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
