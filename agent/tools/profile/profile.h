/* profile.h: the tool that profiles calls: which functions, from where, how long, how much, with whom.
 *
 *     profile.c  what a call adds; settings, start and end
 *     rows.c     finds the rows of a thread
 *     sites.c    call sites
 *     waits.c    for whom calls wait
 *     arrivals.c when it came to collective calls
 *     served.c   which algorithms served them
 *     phases.c   phases
 *
 * Each thread has its own rows of the tables, so that no call waits for another. docs/run-format.md describes the
 * tables. */
#ifndef MPITX_PROFILE_H
#define MPITX_PROFILE_H

#include "tools/objects/objects.h"

#define NOINLINE __attribute__((noinline))

#pragma GCC visibility push(hidden)

/* ---- rows ---- */

enum { PROFILE_STACK_MOST = 16, PROFILE_DURATIONS = 128, PROFILE_SIZES = 40, ARRIVALS = 64 };

/* Keys are words of two fields. They are not written as two fields, as reading them together would then stall. */
static inline uint64_t profile_pair(uint32_t first, uint32_t second) { return first | (uint64_t)second << 32; }

/* Keys: function and phase, object and within, the stack; function and phase, job and rank, the stack; job and rank,
 * phase and onesided; function and phase, received; phase; function and phase, object and bucket of bytes, algorithm and
 * 0, the stack. Arrivals: that of calls, with the thread's number instead of within. */
enum { CALLS_WORDS = 2 /* and the stack */, WAITS_WORDS = 2 /* and the stack */, PEERS_WORDS = 2, SIZES_WORDS = 2,
      PHASES_WORDS = 1, SERVED_WORDS = 3 /* and the stack */, KEY_MOST = SERVED_WORDS + PROFILE_STACK_MOST };

/* The values of a row of calls, after its key. */
struct calls {
    uint64_t calls, ticks, shortest, longest, nested;
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
    uint64_t gave, got, abandoned, estimated;
    uint64_t untimed;                        /* returned calls without a time, and those that a time was taken for */
    uint64_t picked, picked_ticks, picked_squares; /* so that it stands for them as well; ticks are in `ticks`, too */
    uint32_t durations[PROFILE_DURATIONS];
};

/* The values of a row of waits, after its key. */
struct waits {
    uint64_t calls, ticks;               /* that waited for this process only */
    uint64_t shared_calls, shared_ticks; /* that waited for several: each has the whole time */
};

/* The values of a row of served calls, after its key. */
struct served {
    uint64_t calls, ticks, bytes;
};

/* The values of a row of arrivals, after its key. */
struct arrivals {
    uint64_t limit; /* once the row is full: the highest number in it */
    uint32_t kept, reserved;
    uint64_t instance[ARRIVALS], enter[ARRIVALS], leave[ARRIVALS];
    uint32_t size[ARRIVALS], role[ARRIVALS]; /* of the communicator; enum arrives */
};
enum arrives { ARRIVES_ALIKE, ARRIVES_ROOT, ARRIVES_OTHER /* the root is another process */ };

struct peers_row {
    struct mpitx_run_row head;
    uint64_t key[PEERS_WORDS];
    uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
};

struct sizes_row {
    struct mpitx_run_row head;
    uint64_t key[SIZES_WORDS];
    uint64_t messages[PROFILE_SIZES], bytes;
};

struct phases_row {
    struct mpitx_run_row head;
    uint64_t key[PHASES_WORDS];
    uint64_t entered, ticks, first, last, self;
};

/* ---- threads ---- */

/* The rows of one table that a thread uses: a hash table of their places. */
struct rows {
    struct mpitx_run_row **places; /* NULL: none yet */
    uint32_t count, size;          /* size: a power of two */
};

enum { PHASES_DEEP = 16, AWAITED_MOST = 32 };

/* The processes that a call has waited for, until it is left: the sources of messages, or else the destinations. */
struct awaited {
    uint64_t enter; /* which call; else the list is an old one */
    uint32_t count;
    bool received;
    struct call_peer peers[AWAITED_MOST];
};

/* The call that a thread is in, if that is a short local call. */
struct local_call {
    struct mpitx_run_row *row; /* NULL: not known when it was entered */
    enum { LOCAL_TIMED, LOCAL_PICKED, LOCAL_UNTIMED } how;
};

/* Rows of a thread that were found lately. Most calls and messages are like one of these, so that no key need be made
 * and looked up. */
enum { RECENT_BITS = 6, RECENT = 1 << RECENT_BITS };

struct recent_call {
    struct mpitx_run_row *row;
    const void *address; /* NULL: none; also with profile_stack above 1, and in a binding: see sites.c */
    uint64_t comm;
    uint32_t epoch, phase;
    int32_t function;
};

struct recent_message {
    struct mpitx_run_row *peer, *size;
    uint64_t what, who; /* function, whether it was received, phase; job and rank */
};

struct recent_arrivals {
    const struct mpitx_run_row *of; /* the row of calls */
    uint64_t comm;
    struct mpitx_run_row *row; /* NULL: the communicator's calls are not kept */
    struct objects_identity identity;
    uint32_t epoch;
};

static inline unsigned recent_place(uint64_t key) { return (key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - RECENT_BITS); }

struct profile_thread {
    struct profile_thread *next_free;
    uint64_t random;
    uint32_t number; /* from 1 */
    struct local_call local;
    struct recent_call recent_calls[RECENT];
    struct recent_message recent_messages[RECENT];
    struct recent_arrivals recent_arrivals[RECENT];
    struct rows calls, waits, peers, sizes, phases, served, arrivals;
    struct awaited awaited;
    struct objects_last object;
    uint32_t phase_depth; /* also counts phases over PHASES_DEEP */
    int stream;           /* of events; negative: none */
    struct {
        uint32_t phase;
        uint64_t since, inner; /* when it was entered; the ticks in phases within it */
        bool level;            /* of MPI_Pcontrol */
    } phases_in[PHASES_DEEP];
};

extern AGENT_THREAD struct profile_thread *profile_thread;
struct profile_thread *profile_thread_new(void); /* NULL: out of memory */
void profile_thread_end(void);

static inline struct profile_thread *profile_find_thread(void)
{
    return __builtin_expect(profile_thread != NULL, 1) ? profile_thread : profile_thread_new();
}

/* ---- rows.c ---- */

extern unsigned profile_stack;              /* the depth of call stacks */

bool profile_declare(void); /* false: no room in the run */

static inline uint64_t rows_hash(const uint64_t *key, unsigned words)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < words; i++) /* the products do not wait for each other */
        hash = (hash << 23 | hash >> 41) ^ key[i] * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline struct mpitx_run_row *rows_find(const struct rows *rows, const uint64_t *key, unsigned words,
                                              uint64_t hash)
{
    for (uint32_t i = (uint32_t)hash; rows->size; i++) {
        struct mpitx_run_row *row = rows->places[i & (rows->size - 1)];
        if (!row) return NULL;
        const uint64_t *own = (const uint64_t *)(const void *)(row + 1);
        unsigned same = 0;
        while (same < words && own[same] == key[same]) same++;
        if (same == words) return row;
    }
    return NULL;
}

/* Add a row with this key; NULL: there is no room, or out of memory. */
struct mpitx_run_row *profile_add_calls(struct profile_thread *thread, uint64_t *key);
struct mpitx_run_row *profile_add_waits(struct profile_thread *thread, const uint64_t *key);
struct mpitx_run_row *profile_add_served(struct profile_thread *thread, const uint64_t *key);
struct mpitx_run_row *profile_add_arrivals(struct profile_thread *thread, const uint64_t *key);
struct mpitx_run_row *profile_add_peers(struct profile_thread *thread, const uint64_t *key);
struct mpitx_run_row *profile_add_sizes(struct profile_thread *thread, const uint64_t *key);
struct mpitx_run_row *profile_add_phase(struct profile_thread *thread, uint64_t phase, uint64_t now);

static inline struct waits *waits_of(struct mpitx_run_row *row)
{
    return (struct waits *)(void *)((uint64_t *)(void *)(row + 1) + WAITS_WORDS + profile_stack);
}

static inline struct arrivals *arrivals_of(struct mpitx_run_row *row)
{
    return (struct arrivals *)(void *)((uint64_t *)(void *)(row + 1) + CALLS_WORDS + profile_stack);
}

static inline struct served *served_of(struct mpitx_run_row *row)
{
    return (struct served *)(void *)((uint64_t *)(void *)(row + 1) + SERVED_WORDS + profile_stack);
}

static inline struct calls *calls_of(struct mpitx_run_row *row)
{
    return (struct calls *)(void *)((uint64_t *)(void *)(row + 1) + CALLS_WORDS + profile_stack);
}

/* ---- sites.c ---- */

void sites_start(void);

/* The stack of a call that is about to return: for calls through a binding, and if stacks are deeper than 1. */
void sites_walk(const struct chain_call *call, uint64_t *stack);

/* Whether the stack that sites_walk returned is right; else corrects it. Slow: for new rows. */
void sites_check(const struct chain_call *call, uint64_t *stack);

/* ---- waits.c: only for calls that took long ---- */

void waits_start(void);
void waits_for(struct profile_thread *thread, const struct chain_call *call, struct call_peer peer, bool received);

/* The call is left; row is its row of calls. */
void waits_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
               const struct mpitx_run_row *row);

/* ---- arrivals.c: only for blocking collective calls ---- */

void arrivals_start(void);

/* The call is left; row is its row of calls. */
void arrivals_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
                  const struct mpitx_run_row *row);

/* ---- served.c: only for calls whose algorithm may be known ---- */

/* The call is left; row is its row of calls. */
void served_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
                const struct mpitx_run_row *row);

static inline unsigned size_bucket(uint64_t bytes)
{
    unsigned bucket = bytes ? 64 - (unsigned)__builtin_clzll(bytes) : 0;
    return bucket < PROFILE_SIZES ? bucket : PROFILE_SIZES - 1;
}

/* ---- phases.c ---- */

extern uint32_t phases_process; /* the phase of threads that are in none of their own */

bool phases_start(void);
void phases_pcontrol(int level, const void *argument);
void phases_end(void); /* ends those of the calling thread */

static inline uint32_t phase_of(const struct profile_thread *thread)
{
    uint32_t depth = thread->phase_depth;
    if (__builtin_expect(depth == 0, 1)) return __atomic_load_n(&phases_process, __ATOMIC_RELAXED);
    return thread->phases_in[(depth < PHASES_DEEP ? depth : PHASES_DEEP) - 1].phase;
}

#pragma GCC visibility pop

#endif
