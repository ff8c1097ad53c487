#define _GNU_SOURCE
#include "mpi/requests.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

enum { BUCKETS = 4096, PLACES = 16, SPINS = 2000, WAIT_NS = 50000000 };
enum { FREE, HELD, LEFT }; /* LEFT: held, and was waited for in vain */

struct bucket {
    uint32_t lock, used;
    struct request places[PLACES];
};

bool requests_shared, requests_tracked;
uint64_t requests_made, requests_lost;
static struct bucket *table;

bool requests_start(void)
{
    if (table) return true;
    void *memory = mmap(NULL, sizeof(struct bucket) * BUCKETS, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return false;
    table = memory;
    return true;
}

static bool try_lock(struct bucket *bucket)
{
    uint32_t free = FREE;
    return __atomic_compare_exchange_n(&bucket->lock, &free, HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* A holder that has no processor gets one before long. One that is below us on our stack, since this is a call in a signal
 * handler, or that was left by longjmp will not come back: that is waited for once. */
static bool wait_for(struct bucket *bucket)
{
    const struct timespec pause = {0, 50000};
    uint32_t held = HELD;
    int saved = errno;
    bool locked = false;
    for (uint64_t start = clock_monotonic(); !locked && clock_monotonic() - start < WAIT_NS; locked = try_lock(bucket)) {
        if (__atomic_load_n(&bucket->lock, __ATOMIC_RELAXED) == LEFT) break;
        syscall(SYS_nanosleep, &pause, NULL); /* the C library's is where a thread may be cancelled */
    }
    errno = saved;
    if (!locked) __atomic_compare_exchange_n(&bucket->lock, &held, LEFT, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return locked;
}

/* The handle's bucket, locked; NULL when another thread holds it too long, or when there is no table. */
static struct bucket *enter(uint64_t handle)
{
    if (!table) return NULL;
    struct bucket *bucket = &table[(handle * 0x9e3779b97f4a7c15u) >> 52];
    if (!requests_shared) return bucket;
    for (int i = 0; i < SPINS; i++) {
        if (try_lock(bucket)) return bucket;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    if (wait_for(bucket)) return bucket;
    __atomic_fetch_add(&requests_lost, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void leave(struct bucket *bucket)
{
    if (requests_shared) __atomic_store_n(&bucket->lock, FREE, __ATOMIC_RELEASE);
}

/* The newest place with this handle of the first so many. Older ones are of requests that share a handle, or completed unseen. */
static struct request *look(struct bucket *bucket, uint64_t handle, uint64_t made)
{
    struct request *newest = NULL;
    for (struct request *place = bucket->places; place < bucket->places + bucket->used; place++)
        if (place->handle == handle && place->serial < made && (!newest || place->serial > newest->serial)) newest = place;
    return newest;
}

static void put(struct request *place, const struct request *request)
{
    *place = *request;
    place->copies = 1;
    place->serial = requests_shared ? __atomic_fetch_add(&requests_made, 1, __ATOMIC_RELAXED) : requests_made++;
}

bool requests_add(const struct request *request)
{
    struct bucket *bucket = enter(request->handle);
    if (!bucket) return false;
    struct request *place = look(bucket, request->handle, UINT64_MAX);
    bool same = place && place->kind == request->kind && !place->persistent && !request->persistent && !place->newcomm &&
                !request->newcomm;
    /* A persistent request with this handle has been freed without our knowledge. */
    bool stale = place && place->persistent;
    bool room = same || stale || bucket->used < PLACES;
    if (same) {
        uint32_t copies = place->copies;
        uint64_t serial = place->serial;
        *place = *request; /* the newer one: the older may have completed unseen */
        place->copies = copies + 1;
        place->serial = serial;
    } else if (stale) {
        put(place, request);
    } else if (room) {
        put(&bucket->places[bucket->used++], request);
    } else {
        __atomic_fetch_add(&requests_lost, 1, __ATOMIC_RELAXED);
    }
    leave(bucket);
    return room;
}

bool requests_take(uint64_t handle, uint64_t made, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = look(bucket, handle, made);
    if (place) {
        *request = *place;
        if (--place->copies == 0) *place = bucket->places[--bucket->used];
    }
    leave(bucket);
    return place != NULL;
}

bool requests_set_active(uint64_t handle, bool active, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = look(bucket, handle, UINT64_MAX);
    bool changed = place && place->persistent && (active || place->active);
    if (changed) {
        *request = *place;
        place->active = active;
    }
    leave(bucket);
    return changed;
}
