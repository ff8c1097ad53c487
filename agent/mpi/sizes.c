#include "mpi/sizes.h"

#include "mpi/peers.h"

enum { TYPE_BITS = 12, TYPE_WAYS = 4, COMM_BITS = 9 };

/* An entry is being written while its sequence is odd. A thread that finds it so does without. */
struct type {
    uint64_t type, size;
    uint32_t sequence;
} __attribute__((aligned(32)));

struct comm {
    struct sizes_comm comm;
    uint32_t sequence;
} __attribute__((aligned(64)));

static struct type types[1 << TYPE_BITS];
static struct comm comms[1 << COMM_BITS];

/* A datatype has several places: an address of a predefined one may be the program's (a copied symbol), those of the
 * others the library's, so that any two can fall on one. */
static struct type *type_at(uint64_t type, unsigned way)
{
    return &types[(epochs_hash(type) ^ way) % (1 << TYPE_BITS)];
}

static struct comm *comm_at(uint64_t comm) { return &comms[epochs_hash(comm) % (1 << COMM_BITS)]; }

static bool begin(uint32_t *sequence)
{
    uint32_t before = __atomic_load_n(sequence, __ATOMIC_RELAXED);
    return !(before & 1) &&
           __atomic_compare_exchange_n(sequence, &before, before + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

static void end(uint32_t *sequence) { __atomic_fetch_add(sequence, 1, __ATOMIC_RELEASE); }

static bool unchanged(const uint32_t *sequence, uint32_t before)
{
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !(before & 1) && __atomic_load_n(sequence, __ATOMIC_RELAXED) == before;
}

/* One of the datatype's places that holds this one, or is free (0); or NULL. */
static struct type *find_place(uint64_t type, uint64_t holds)
{
    for (unsigned way = 0; way < TYPE_WAYS; way++) {
        struct type *place = type_at(type, way);
        if (__atomic_load_n(&place->type, __ATOMIC_RELAXED) == holds) return place;
    }
    return NULL;
}

bool sizes_find_type(uint64_t type, uint64_t *size)
{
    const struct type *place = find_place(type, type);
    if (!place) return false;
    uint32_t before = __atomic_load_n(&place->sequence, __ATOMIC_ACQUIRE);
    if (__atomic_load_n(&place->type, __ATOMIC_RELAXED) != type) return false;
    *size = __atomic_load_n(&place->size, __ATOMIC_RELAXED);
    return unchanged(&place->sequence, before);
}

void sizes_add_type(uint64_t type, uint64_t size)
{
    struct type *place = find_place(type, type);
    if (!place) place = find_place(type, 0);
    if (!place) place = type_at(type, 0);
    if (!begin(&place->sequence)) return;
    __atomic_store_n(&place->type, type, __ATOMIC_RELAXED);
    __atomic_store_n(&place->size, size, __ATOMIC_RELAXED);
    end(&place->sequence);
}

void sizes_remove_type(uint64_t type)
{
    for (unsigned way = 0; way < TYPE_WAYS; way++) {
        uint64_t old = type;
        __atomic_compare_exchange_n(&type_at(type, way)->type, &old, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

bool sizes_find_comm(uint64_t comm, uint32_t epoch, struct sizes_comm *found)
{
    const struct comm *place = comm_at(comm);
    uint32_t before = __atomic_load_n(&place->sequence, __ATOMIC_ACQUIRE);
    if (place->comm.comm != comm || place->comm.epoch != epoch) return false;
    *found = place->comm;
    return unchanged(&place->sequence, before);
}

void sizes_add_comm(const struct sizes_comm *comm)
{
    struct comm *place = comm_at(comm->comm);
    if (!begin(&place->sequence)) return;
    place->comm = *comm;
    end(&place->sequence);
}
