/* order.c: numbers messages, and finds those whose order threads make ambiguous.
 *
 * MPI matches messages of one communicator, source, destination and tag in the order in which they were sent, and
 * receives in the order in which they were posted (MPI-4.1, section 3.5). The numbers let readers match them although
 * events may be missing. Calls of two threads that overlap in time have no order. */
#include <string.h>

#include "mpi/requests.h"
#include "tools/trace/trace.h"

enum { KEYS = 1 << 14, TRIES = 16 };

/* 64 bits of a hash stand for a key: two of 16384 keys are equal once in 10^11 runs. */
static struct {
    uint64_t key;
    uint32_t count;
} numbers[KEYS];

uint8_t *trace_roles; /* see trace.h */
bool order_concurrent;
static bool unseen;  /* a receive has completed whose source or tag is not known */
static bool unknown; /* messages were not numbered */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

/* Whether all messages that were received so far have been reported; else the numbers of later ones would be wrong. */
static inline bool saw_all(void)
{
    return !(requests_lost | requests_locked | requests_freed | requests_failed | unseen);
}

void order_unseen(void) { unseen = true; }

void order_unknown(void) { unknown = true; }

static uint32_t next(uint32_t object, struct call_peer peer, int32_t tag, unsigned what)
{
    uint64_t key = mix((uint64_t)(uint32_t)peer.rank << 32 | (uint32_t)tag);
    key = mix(key ^ ((uint64_t)(uint32_t)peer.job << 32 | (uint64_t)object << 2 | what)) | 1;
    for (uint32_t i = 0; i < TRIES; i++) {
        uint64_t index = ((key >> 20) + i) & (KEYS - 1), *place = &numbers[index].key,
                         found = __atomic_load_n(place, __ATOMIC_RELAXED);
        uint32_t *count = &numbers[index].count;
        if (found == 0 && __atomic_compare_exchange_n(place, &found, key, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            found = key;
        if (found == key) return order_concurrent ? __atomic_add_fetch(count, 1, __ATOMIC_RELAXED) : ++*count;
    }
    return 0;
}

uint32_t order_number(uint32_t object, struct call_peer peer, int32_t tag, bool received)
{
    return unknown || (received && !saw_all()) ? 0 : next(object, peer, tag, received);
}

uint32_t order_channel(uint32_t object, struct call_peer peer, int32_t tag, bool received)
{
    return unknown ? 0 : next(object, peer, tag, 2u | received);
}

/* ---- threads ---- */

void order_start(void) { order_concurrent = agent_process.thread_level < 0 || agent_process.thread_level > 2; }

static bool meets(int32_t one, int32_t other, int32_t any) { return one == other || one == any || other == any; }

static bool same_stream(struct trace_stream a, struct trace_stream b)
{
    return meets(a.peer, b.peer, call_wildcards.any_source) && meets(a.tag, b.tag, call_wildcards.any_tag);
}

static void set(uint8_t *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELAXED); }

/* Of two calls that overlap, at least one sees the other: each is published before its thread looks at the others. A
 * call that another thread is about to change may be misread; that thread then sees this one. */
void order_enter(struct trace_thread *thread, const struct chain_call *call)
{
    const struct call_description *d = &call->description;
    const struct call_function *function = &chain_functions[call->function];
    struct trace_posting *own = &thread->posting;
    bool sends = function->traffic & CALL_SENDS, receives = function->traffic & CALL_RECEIVES,
                 starts = function->kind != CALL_POINT_TO_POINT;
    own->comm = starts ? 0 : d->comm;
    own->sent = own->posted = (struct trace_stream){d->peer, d->tag};
    if (sends && receives) own->posted = (struct trace_stream){d->source, d->source_tag};
    own->sends = sends;
    own->partitioned = (trace_roles[call->function] & TRACE_PARTITIONED) != 0;
    own->posts = receives ? !d->request : !sends; /* MPI_Mprobe has posted what MPI_Mrecv receives */
    own->sends_concurrently = own->posts_concurrently = 0;
    __atomic_store_n(&own->active, 1, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct trace_thread *t = __atomic_load_n(&trace_threads, __ATOMIC_ACQUIRE); t; t = t->next) {
        struct trace_posting *other = &t->posting;
        if (other == own || !__atomic_load_n(&other->active, __ATOMIC_ACQUIRE)) continue;
        bool any = !own->comm || !other->comm;
        if (own->partitioned != other->partitioned || (!any && own->comm != other->comm)) continue;
        if (own->sends && other->sends && (any || same_stream(own->sent, other->sent)))
            set(&own->sends_concurrently), set(&other->sends_concurrently);
        if (own->posts && other->posts && (any || same_stream(own->posted, other->posted)))
            set(&own->posts_concurrently), set(&other->posts_concurrently);
    }
}
