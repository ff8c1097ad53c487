#define _GNU_SOURCE
#include "mpi/requests.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { PLACES = 16, BUCKETS = REQUESTS_MOST / PLACES, SPINS = 2000, WAIT_NS = 50000000 };
enum { FREE, HELD, STUCK }; /* STUCK: held, and waiting for it timed out */

struct bucket {
    uint32_t lock, used;
    struct request places[PLACES] __attribute__((aligned(64)));
};
_Static_assert(sizeof(struct request) == 64, "a cache line each");

bool requests_shared, requests_tracked;
uint64_t requests_made, requests_lost, requests_locked, requests_freed, requests_failed;
static struct bucket *table;

bool requests_start(void)
{
    if (!table) table = memory_map(sizeof(struct bucket) * BUCKETS, MAP_NORESERVE);
    return table != NULL;
}

static bool try_lock(struct bucket *bucket)
{
    uint32_t free = FREE;
    return __atomic_compare_exchange_n(&bucket->lock, &free, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A holder that was preempted continues soon. Two kinds of holder never release the lock: a call that this one
 * interrupts in a signal handler, and one that was left by longjmp. Waiting for such a lock times out once. */
static bool wait_for(struct bucket *bucket)
{
    const struct timespec pause = {0, 50000};
    uint32_t held = HELD;
    int saved = errno;
    bool locked = false;
    for (uint64_t start = clock_monotonic(); !locked && clock_monotonic() - start < WAIT_NS;
         locked = try_lock(bucket)) {
        if (__atomic_load_n(&bucket->lock, __ATOMIC_RELAXED) == STUCK) break;
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's nanosleep is a cancellation point */
    }
    errno = saved;
    if (!locked) __atomic_compare_exchange_n(&bucket->lock, &held, STUCK, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return locked;
}

/* Requests that are close to each other share buckets, or have neighboring ones, so that few pages are touched. Handles
 * are numbers in a row, or addresses of objects of some hundred bytes. */
static struct bucket *bucket_of(uint64_t handle)
{
    uint64_t near = handle >> 32 ? handle >> 10 : handle >> 1;
    return &table[(near + (near / BUCKETS) * 7919) % BUCKETS];
}

static __attribute__((noinline)) bool lock(struct bucket *bucket)
{
    for (int i = 0; i < SPINS; i++) {
        if (try_lock(bucket)) return true;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    if (wait_for(bucket)) return true;
    __atomic_fetch_add(&requests_locked, 1, __ATOMIC_RELAXED);
    return false;
}

/* Locks the handle's bucket and returns it; NULL: another thread holds it too long, or requests_start was not
 * called. */
static inline struct bucket *enter(uint64_t handle)
{
    struct bucket *bucket = bucket_of(handle);
    if (__builtin_expect(!table, 0)) return NULL;
    return !requests_shared || lock(bucket) ? bucket : NULL;
}

static void leave(struct bucket *bucket)
{
    if (requests_shared) __atomic_store_n(&bucket->lock, FREE, __ATOMIC_RELEASE);
}

/* The newest entry with this handle and a serial below `made`. Older entries share the handle or completed unseen. */
static struct request *find(struct bucket *bucket, uint64_t handle, uint64_t made)
{
    struct request *newest = NULL;
    for (struct request *place = bucket->places; place < bucket->places + bucket->used; place++)
        if (place->handle == handle && place->serial < made && (!newest || place->serial > newest->serial))
            newest = place;
    return newest;
}

/* Whether requests of a kind share an entry if they have one handle. A receive needs its own, as a collective does if
 * there are threads: another one may get the handle before the call that completed the older request has described it. */
static bool can_share(enum request_kind kind)
{
    return kind != REQUEST_COMM && kind != REQUEST_RECEIVE && kind != REQUEST_EXCHANGE &&
           (kind != REQUEST_COLLECTIVE || !requests_shared);
}

struct request *requests_open(uint64_t handle, enum request_kind kind, bool persistent)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return NULL;
    struct request *place = find(bucket, handle, UINT64_MAX);
    if (place && place->kind == kind && !place->persistent && !persistent && can_share(kind)) {
        place->copies++;
        return place;
    }
    if (place && !place->persistent) place = NULL; /* else a persistent request with this handle was freed unseen */
    if (!place && bucket->used < PLACES) place = &bucket->places[bucket->used++];
    if (!place) {
        __atomic_fetch_add(&requests_lost, 1, __ATOMIC_RELAXED);
        leave(bucket);
        return NULL;
    }
    place->handle = handle;
    place->serial = requests_shared ? __atomic_fetch_add(&requests_made, 1, __ATOMIC_RELAXED) : requests_made++;
    place->copies = 1;
    place->kind = (uint8_t)kind;
    place->persistent = persistent;
    place->active = !persistent;
    place->cancelling = false;
    return place;
}

void requests_close(uint64_t handle) { leave(bucket_of(handle)); }

bool requests_add(const struct request *request)
{
    struct request *place = requests_open(request->handle, (enum request_kind)request->kind, request->persistent);
    if (!place) return false;
    uint64_t serial = request->copies ? request->serial : place->serial;
    uint32_t copies = request_partitioned(request) ? request->partitions : place->copies;
    *place = *request;
    place->serial = serial;
    place->copies = copies;
    requests_close(request->handle);
    return true;
}

bool requests_take(uint64_t handle, uint64_t made, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = find(bucket, handle, made);
    if (place) {
        *request = *place;
        struct request *last = &bucket->places[bucket->used - 1];
        bool whole = request_partitioned(place) || --place->copies == 0;
        if (whole) bucket->used--;
        if (whole && place != last) *place = *last;
    }
    leave(bucket);
    return place != NULL;
}

bool requests_find(uint64_t handle, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = find(bucket, handle, UINT64_MAX);
    if (place) *request = *place;
    leave(bucket);
    return place != NULL;
}

bool requests_set_active(uint64_t handle, bool active, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = find(bucket, handle, UINT64_MAX);
    bool changed = place && place->persistent && (active || place->active);
    if (changed) {
        if (active && request_partitioned(place)) place->starts++;
        *request = *place;
        place->active = active;
        place->cancelling = false;
    }
    leave(bucket);
    return changed;
}

bool requests_cancel(uint64_t handle, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = find(bucket, handle, UINT64_MAX);
    if (place) {
        place->cancelling = true;
        *request = *place;
    }
    leave(bucket);
    return place != NULL;
}
