/* Tests the table of requests alone. */
#define _GNU_SOURCE
#include "mpi/requests.c"

#include <pthread.h>
#include <stdio.h>

static void add(uint64_t handle, int kind)
{
    struct request request = {.handle = handle, .kind = (uint8_t)kind, .active = 1};
    if (!requests_add(&request)) printf("no room\n");
}

/* Returns the kind of the request that a call gets which began after a number of requests were made. */
static int take(uint64_t handle, uint64_t made)
{
    struct request request;
    return requests_take(handle, made, &request) ? request.kind : -1;
}

/* A handle that is reused before the call that released it has returned, and one of a request that completed unseen. */
static void reused(void)
{
    add(8, REQUEST_RECEIVE);
    uint64_t first = requests_made;
    add(8, REQUEST_SEND);
    int old = take(8, first), new = take(8, requests_made), none = take(8, requests_made);
    printf("reused %d %d %d\n", old, new, none);
    add(8, REQUEST_SEND);
    for (int i = 0; i < 40; i++) {
        add(8, REQUEST_RECEIVE);
        if (take(8, requests_made) != REQUEST_RECEIVE) printf("a stale one was taken\n");
    }
    add(8, REQUEST_SEND);
    old = take(8, requests_made), new = take(8, requests_made), none = take(8, requests_made);
    printf("shared %d %d %d\n", old, new, none);
}

/* A receive keeps its communicator, although another thread's receive has the same handle already. */
static void received(void)
{
    struct request request;
    requests_add(&(struct request){.handle = 24, .kind = REQUEST_RECEIVE, .comm = 1});
    uint64_t made = requests_made;
    requests_add(&(struct request){.handle = 24, .kind = REQUEST_RECEIVE, .comm = 2});
    requests_take(24, made, &request);
    int first = (int)request.comm;
    requests_take(24, requests_made, &request);
    printf("received %d %d %d\n", first, (int)request.comm, take(24, requests_made));
}

static void *hold(void *handle)
{
    struct bucket *bucket = enter((uint64_t)(uintptr_t)handle);
    usleep(5000);
    leave(bucket);
    return NULL;
}

/* A lock holder that is away for some milliseconds, and one that never returns, for which the table waits once. */
static void held(void)
{
    pthread_t thread;
    add(16, REQUEST_SEND);
    pthread_create(&thread, NULL, hold, (void *)(uintptr_t)16);
    usleep(1000);
    printf("held %d\n", take(16, requests_made));
    pthread_join(thread, NULL);

    struct bucket *bucket = enter(16);
    uint64_t start = clock_monotonic();
    int first = take(16, requests_made);
    uint64_t middle = clock_monotonic();
    for (int i = 0; i < 100; i++) take(16, requests_made);
    uint64_t end = clock_monotonic();
    printf("left %d %d %d\n", first, middle - start >= WAIT_NS && middle - start < 1000000000u, end - middle < 1000000000u);
    leave(bucket);
    add(16, REQUEST_SEND);
    printf("back %d\n", take(16, requests_made));
}

/* As many persistent requests as a large application makes, and more requests than a part of the table holds. */
static void many(void)
{
    for (uint64_t i = 0; i < 100000; i++) {
        struct request request = {.handle = 0x98000000 + i, .persistent = 1};
        requests_add(&request);
    }
    printf("many: lost %llu\n", (unsigned long long)requests_lost);
    struct bucket *bucket = bucket_of(16);
    for (uint64_t i = 16, n = 0; n <= PLACES; i++)
        if (bucket_of(i) == bucket && ++n) requests_add(&(struct request){.handle = i});
    printf("full: %d, locked %llu\n", requests_lost > 0, (unsigned long long)requests_locked);
}

int main(void)
{
    requests_shared = true;
    if (!requests_start()) return 1;
    reused();
    received();
    held();
    printf("lost %llu locked %llu\n", (unsigned long long)requests_lost, (unsigned long long)requests_locked);
    many();
    return 0;
}
