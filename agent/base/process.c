/* process.c: facts about this process; threads. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/agent.h"

struct agent_process agent_process = {.rank = -1, .size = -1, .thread_level = -1, .library = ""};

static uint32_t own_threads[8];
static uint32_t own_count;

void agent_thread_begins(void)
{
    uint32_t place = __atomic_fetch_add(&own_count, 1, __ATOMIC_RELAXED) % (sizeof own_threads / sizeof *own_threads);
    __atomic_store_n(&own_threads[place], (uint32_t)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

bool agent_thread_is_own(uint32_t id)
{
    for (unsigned i = 0; i < sizeof own_threads / sizeof *own_threads; i++)
        if (__atomic_load_n(&own_threads[i], __ATOMIC_RELAXED) == id) return true;
    return false;
}

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
