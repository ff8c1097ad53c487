/* tally.c: the observer that counts. Each thread has its own counters, without locks. */
#include "tools/tally/tally.h"

#include <pthread.h>
#include <sys/mman.h>

#include "base/agent.h"
#include "base/cancel.h"
#include "base/memory.h"

uint8_t tally_places[TALLY_FUNCTIONS];
bool tally_estimated;
uint8_t tally_estimated_by[TALLY_FUNCTIONS];

struct tally *tallies;
uint64_t tally_count;
static struct tally *free_tallies;
static pthread_mutex_t tallies_lock = PTHREAD_MUTEX_INITIALIZER; /* while a thread starts or ends */
static AGENT_THREAD struct tally *own;

/* Makes the thread's counters; NULL if memory is refused. */
static __attribute__((noinline)) struct tally *make_own(void)
{
    struct hold hold = hold_lock(&tallies_lock);
    struct tally *tally = free_tallies;
    if (tally) free_tallies = tally->next_free;
    hold_unlock(&tallies_lock, hold);
    if (!tally) {
        size_t size = sizeof *tally + (size_t)chain_function_count * sizeof tally->rows[0];
        if (!(tally = memory_map(size, MAP_NORESERVE))) return NULL;
        hold = hold_lock(&tallies_lock);
        tally->next = tallies;
        __atomic_store_n(&tallies, tally, __ATOMIC_RELEASE);
        __atomic_add_fetch(&tally_count, 1, __ATOMIC_RELAXED);
        hold_unlock(&tallies_lock, hold);
    }
    own = tally;
    return tally;
}

static inline struct tally *find_own(void) { return __builtin_expect(own != NULL, 1) ? own : make_own(); }

static void thread_end(void)
{
    if (!own) return;
    struct hold hold = hold_lock(&tallies_lock);
    own->next_free = free_tallies;
    free_tallies = own;
    hold_unlock(&tallies_lock, hold);
    own = NULL;
}

/* Other threads read these while they are written. */
static inline void add(uint64_t *place, uint64_t amount)
{
    __atomic_store_n(place, __atomic_load_n(place, __ATOMIC_RELAXED) + amount, __ATOMIC_RELAXED);
}

/* Where a call's time counts: in the total if it is the outermost call, and in its function's row if it is the
 * outermost call of that function. NULL: nowhere. The call that started the agent is not counted: it ended before the
 * first sample (has_start in virtual.c). */
struct time_places {
    uint64_t *total, *own;
};

static inline struct time_places time_places(const struct chain_call *call, unsigned places, struct tally *tally)
{
    struct time_places found = {NULL, NULL};
    if (!call->enter || ((places & TALLY_INIT) && call->enter == agent_process.init_ticks)) return found;
    if ((places & (TALLY_TIMED | TALLY_INIT)) && call->depth == 0)
        found.total = &tally->totals[places & TALLY_INIT ? TALLY_INIT_TIME : TALLY_TIME];
    if ((places & TALLY_ROW) && (call->depth == 0 || !chain_recurses(call)))
        found.own = &tally->rows[call->function][TALLY_TIME];
    return found;
}

static void enter(const struct chain_call *call)
{
    struct tally *tally = find_own();
    if (!tally) return;
    struct time_places places = time_places(call, tally_places[call->function], tally);
    if (places.total) add(places.total, -call->enter);
    if (places.own) add(places.own, -call->enter);
}

static inline void end_time(uint64_t *place, uint64_t end)
{
    if (place && __builtin_expect((int64_t)*place < 0, 1)) add(place, end); /* else activated during the call */
}

/* Writes only counters that change: most calls change one or two. */
static inline void add_messages(const struct call_description *call, uint64_t *to)
{
    if (call->sent) {
        add(&to[TALLY_MESSAGES_SENT], call->sent);
        add(&to[TALLY_BYTES_SENT], call->sent_bytes);
    }
    if (call->received) {
        add(&to[TALLY_MESSAGES_RECEIVED], call->received);
        add(&to[TALLY_BYTES_RECEIVED], call->received_bytes);
    }
}

/* The bytes of persistent collectives, which start in MPI_Start, are added to the totals only. */
static void add_transfers(const struct call_description *call, uint64_t *totals, uint64_t *row)
{
    unsigned kind = chain_functions[call->function].kind;
    if (call->started) add(&totals[TALLY_STARTED], call->started);
    if (call->completed) add(&totals[TALLY_COMPLETED], call->completed);
    if (call->operations) add(&totals[kind == CALL_RMA ? TALLY_RMA_OPERATIONS : TALLY_COLLECTIVES], call->operations);
    if (call->read) add(&totals[TALLY_IO_READ], call->read);
    if (!call->gave && !call->got) return;
    add(&totals[kind == CALL_RMA ? TALLY_RMA_PUT : kind == CALL_IO ? TALLY_IO_WRITTEN : TALLY_COLLECTIVE_SENT],
        call->gave);
    add(&totals[kind == CALL_RMA ? TALLY_RMA_GOT : kind == CALL_IO ? TALLY_IO_READ : TALLY_COLLECTIVE_RECEIVED],
        call->got);
    if (!row || kind == CALL_COMPLETION) return;
    add(&row[TALLY_BYTES_SENT], call->gave);
    add(&row[TALLY_BYTES_RECEIVED], call->got);
}

static void estimate(int function)
{
    __atomic_store_n(&tally_estimated_by[function], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&tally_estimated, true, __ATOMIC_RELEASE);
}

static void leave(const struct chain_call *call)
{
    struct tally *tally = find_own();
    if (!tally) return;
    unsigned places = tally_places[call->function];
    uint64_t *row = places & TALLY_ROW ? tally->rows[call->function] : NULL;
    add(&tally->totals[TALLY_CALLS], 1);
    if (row) add(&row[TALLY_CALLS], 1);
    struct time_places time = time_places(call, places, tally);
    end_time(time.total, call->abandoned ? call->enter : call->leave);
    end_time(time.own, call->abandoned ? call->enter : call->leave);
    if (!call->described) return;
    if (call->description.estimated) estimate(call->function);
    add_messages(&call->description, tally->totals);
    if (row) add_messages(&call->description, row);
    if (places & TALLY_TRANSFERS) add_transfers(&call->description, tally->totals, row);
}

const struct chain_observer tally_observer =
    {.name = "tally", .enter = enter, .leave = leave, .thread_end = thread_end};
