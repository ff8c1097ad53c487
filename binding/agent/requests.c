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

/* The last place with this handle: of equal handles the newest, which for libraries makes no difference. */
static struct request *look(struct bucket *bucket, uint64_t handle)
{
    for (uint32_t i = bucket->used; i-- > 0;)
        if (bucket->places[i].handle == handle) return &bucket->places[i];
    return NULL;
}

bool requests_add(const struct request *request)
{
    struct bucket *bucket = enter(request->handle);
    if (!bucket) return false;
    struct request *place = look(bucket, request->handle);
    bool same = place && place->kind == request->kind && !place->persistent && !request->persistent && !place->newcomm &&
                !request->newcomm;
    /* A persistent request with this handle has been freed without our knowledge. */
    bool stale = place && place->persistent;
    bool room = same || stale || bucket->used < PLACES;
    if (same) {
        place->copies++;
    } else if (stale) {
        *place = *request;
        place->copies = 1;
    } else if (room) {
        place = &bucket->places[bucket->used++];
        *place = *request;
        place->copies = 1;
    } else {
        __atomic_fetch_add(&chain_lost.requests, 1, __ATOMIC_RELAXED);
    }
    leave(bucket);
    return room;
}

bool requests_take(uint64_t handle, struct request *request)
{
    struct bucket *bucket = enter(handle);
    if (!bucket) return false;
    struct request *place = look(bucket, handle);
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
    struct request *place = look(bucket, handle);
    bool changed = place && place->persistent && (active || place->active);
    if (changed) {
        place->active = active;
        *request = *place;
    }
    leave(bucket);
    return changed;
}
