/* threads.c: the ends of threads. */
#include <pthread.h>

#include "chain/internal.h"
#include "mpi/describe_state.h"

enum { ENDS = 2 };
static AGENT_THREAD void (*ends[ENDS])(void); /* of the calling thread, in the order of registration */
static pthread_key_t key;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static bool key_made;

static void end_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < ENDS; i++) {
        void (*end)(void) = ends[i];
        ends[i] = NULL;
        if (end) end();
    }
    chain_observers_end_thread();
    describe_thread_end();
}

static void make_key(void) { key_made = pthread_key_create(&key, end_thread) == 0; }

void chain_at_thread_end(void (*end)(void))
{
    pthread_once(&key_once, make_key);
    if (key_made) pthread_setspecific(key, ends);
    ends[ends[0] && ends[0] != end] = end;
}
