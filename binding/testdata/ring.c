/* ring.c: threads and a signal handler write into a ring of peruse.c while the main thread reads it. */
#define _GNU_SOURCE
#include "../peruse.c"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 4, EACH = 100000, SIGNALS = 2000 };

static mpitx_peruse_fn *function; /* what the library got */
static void *params[THREADS + 1];
static _Atomic int running = THREADS;
static int signals;

static int take_callback(int event, int object, mpitx_peruse_fn *f, void *param, mpitx_handle *handle)
{
    (void)object, (void)handle;
    function = f;
    params[event] = param;
    return 0;
}

static void call(int writer, int n)
{
    struct mpitx_peruse_spec spec = {.peer = writer, .tag = n};
    function(0, n, &spec, params[writer]);
}

static void on_signal(int number)
{
    (void)number;
    if (signals < SIGNALS) call(THREADS, signals++);
}

static void *writer(void *number)
{
    for (int n = 0; n < EACH; n++) {
        call((int)(intptr_t)number, n);
        if (n % 64 == 0 && number == 0) raise(SIGUSR1);
    }
    running--;
    return NULL;
}

int main(void)
{
    struct mpitx_table table;
    memset(&table, 0, sizeof table);
    table.peruse_event_comm_register = take_callback;
    struct peruse_ring *ring = peruse_ring_new(1024);
    for (int i = 0; i <= THREADS; i++) mt_peruse_event_comm_register(&table, i, 0, peruse_writer_new(ring, i), NULL);
    signal(SIGUSR1, on_signal);
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, writer, (void *)i);
    int last[THREADS + 1], taken = 0, bad = 0;
    memset(last, 0xff, sizeof last);
    for (int more = 1; more;) {
        struct peruse_ring_event e;
        more = running > 0;
        while (peruse_ring_take(ring, &e)) {
            bad += e.writer < 0 || e.writer > THREADS || e.spec.peer != e.writer || e.spec.tag != e.id || e.id <= last[e.writer] || e.time <= 0;
            last[e.writer] = (int)e.id;
            taken++;
            more = 1;
        }
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    long all = (long)THREADS * EACH + signals;
    printf("%d taken, %lu dropped, %d bad\n", taken, (unsigned long)peruse_ring_dropped(ring), bad);
    return bad || signals == 0 || taken + (long)peruse_ring_dropped(ring) != all || taken < 1024;
}
