#include "requests.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "chain_internal.h"

enum { BUCKETS = 4096, PLACES = 16, SPINS = 2000 };

struct bucket {
    uint32_t lock, used;
    struct request places[PLACES];
};

bool requests_shared;
uint64_t requests_made;
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

/* The handle's bucket, locked; NULL when another thread holds it too long, or when there is no table. */
static struct bucket *enter(uint64_t handle)
{
    if (!table) return NULL;
    struct bucket *bucket = &table[(handle * 0x9e3779b97f4a7c15u) >> 52];
    if (!requests_shared) return bucket;
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_exchange_n(&bucket->lock, 1, __ATOMIC_ACQUIRE) == 0) return bucket;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    __atomic_fetch_add(&chain_lost.requests, 1, __ATOMIC_RELAXED);
    return NULL;
}

static void leave(struct bucket *bucket)
{
    if (requests_shared) __atomic_store_n(&bucket->lock, 0, __ATOMIC_RELEASE);
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
        place->copies++;
    } else if (stale) {
        put(place, request);
    } else if (room) {
        put(&bucket->places[bucket->used++], request);
    } else {
        __atomic_fetch_add(&chain_lost.requests, 1, __ATOMIC_RELAXED);
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
        place->active = active;
        *request = *place;
    }
    leave(bucket);
    return changed;
}
