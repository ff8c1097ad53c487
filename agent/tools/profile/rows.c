/* rows.c: the tables of the profile, and each thread's rows of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/memory.h"
#include "run/fields.h"
#include "tools/algorithms/algorithms.h"
#include "tools/profile/profile.h"

enum { FIRST_PLACES = 512, CALLS_BYTES = 2 << 20, WAITS_BYTES = 256 << 10, SERVED_BYTES = 1 << 20, ARRIVALS_BYTES = 384 << 10,
      PHASES_ROWS = 1024 };

AGENT_THREAD struct profile_thread *profile_thread;
unsigned profile_stack;

static int calls_table, waits_table, peers_table, sizes_table, phases_table, served_table, arrivals_table;
static uint32_t calls_rows, site_rows, calls_most, waits_rows, waits_most, phases_rows, served_rows, served_most, arrivals_rows,
    arrivals_most;

/* ---- declarations ---- */

static bool declare_calls(void)
{
    struct mpitx_run_field fields[] = {
        NAMED("function"), NAMED("phase"), NUMBER("object", U32), NAMED("within"),
        ADDRESS("stack", .count = profile_stack),
        NUMBER("calls", U64), TICKS("ticks"),
        TICKS("shortest", .merge = MPITX_RUN_MIN),
        TICKS("longest", .merge = MPITX_RUN_MAX),
        TICKS("nested"), NUMBER("messages_sent", U64), BYTES("bytes_sent"), NUMBER("messages_received", U64),
        BYTES("bytes_received"),
        BYTES("gave"), BYTES("got"), NUMBER("abandoned", U64), NUMBER("estimated", U64),
        NUMBER("untimed", U64), NUMBER("picked", U64), TICKS("picked_ticks"), NUMBER("picked_squares", U64),
        NUMBER("durations", U32, .count = PROFILE_DURATIONS),
    };
    uint32_t keys = 5, count = COUNT(fields), bytes = 0;
    if (profile_stack == 0) {
        memmove(&fields[4], &fields[5], (count - 5) * sizeof *fields);
        keys--, count--;
    }
    calls_table = mpitx_run_declare_table(agent_run, "profile calls", fields, count, keys, &bytes);
    calls_most = CALLS_BYTES / (bytes + 64);
    return calls_table >= 0 && bytes == sizeof(struct mpitx_run_row) +
           (CALLS_WORDS + profile_stack) * sizeof(uint64_t) + sizeof(struct calls);
}

static bool declare_waits(void)
{
    const struct mpitx_run_field fields[] = {
        NAMED("function"), NAMED("phase"), NUMBER("job", I32), NUMBER("rank", I32),
        NUMBER("calls", U64), TICKS("ticks"), NUMBER("shared_calls", U64), TICKS("shared_ticks"),
        ADDRESS("stack", .count = profile_stack),
    };
    struct mpitx_run_field ordered[COUNT(fields)];
    uint32_t keys = 4, bytes = 0;
    memcpy(ordered, fields, keys * sizeof *fields);
    if (profile_stack) ordered[keys++] = fields[COUNT(fields) - 1];
    memcpy(ordered + keys, fields + 4, 4 * sizeof *fields);
    waits_table = mpitx_run_declare_table(agent_run, "profile waits", ordered, keys + 4, keys, &bytes);
    waits_most = WAITS_BYTES / (bytes + 64);
    return waits_table >= 0 && bytes == sizeof(struct mpitx_run_row) +
           (WAITS_WORDS + profile_stack) * sizeof(uint64_t) + sizeof(struct waits);
}

static bool declare_served(void)
{
    struct mpitx_run_field fields[] = {
        NAMED("function"), NAMED("phase"), NUMBER("object", U32), NUMBER("bucket", U32), NAMED("algorithm"),
        NUMBER("reserved", U32), ADDRESS("stack", .count = profile_stack),
        NUMBER("calls", U64), TICKS("ticks"), BYTES("bytes"),
    };
    uint32_t keys = 7, count = COUNT(fields), bytes = 0;
    if (profile_stack == 0) {
        memmove(&fields[6], &fields[7], (count - 7) * sizeof *fields);
        keys--, count--;
    }
    served_table = mpitx_run_declare_table(agent_run, "profile algorithms", fields, count, keys, &bytes);
    served_most = SERVED_BYTES / (bytes + 64);
    return served_table >= 0 && bytes == sizeof(struct mpitx_run_row) +
           (SERVED_WORDS + profile_stack) * sizeof(uint64_t) + sizeof(struct served);
}

/* Rows of two threads have different keys, so that readers do not add their times. A profile does without. */
static void declare_arrivals(void)
{
    struct mpitx_run_field fields[] = {
        NAMED("function"), NAMED("phase"), NUMBER("object", U32), NUMBER("part", U32),
        ADDRESS("stack", .count = profile_stack),
        NUMBER("limit", U64, .merge = MPITX_RUN_MIN), NUMBER("kept", U32), NUMBER("reserved", U32),
        NUMBER("instance", U64, .count = ARRIVALS), TIME("enter", .count = ARRIVALS), TIME("leave", .count = ARRIVALS),
        NUMBER("size", U32, .count = ARRIVALS), NUMBER("role", U32, .count = ARRIVALS),
    };
    uint32_t keys = 5, count = COUNT(fields), bytes = 0;
    if (profile_stack == 0) {
        memmove(&fields[4], &fields[5], (count - 5) * sizeof *fields);
        keys--, count--;
    }
    arrivals_table = mpitx_run_declare_table(agent_run, "profile arrivals", fields, count, keys, &bytes);
    bool fits = arrivals_table >= 0 && bytes == sizeof(struct mpitx_run_row) +
                (CALLS_WORDS + profile_stack) * sizeof(uint64_t) + sizeof(struct arrivals);
    arrivals_most = fits ? ARRIVALS_BYTES / (bytes + 64) : 0;
}

bool profile_declare(void)
{
    static const struct mpitx_run_field peers[] = {
        NUMBER("job", I32), NUMBER("rank", I32), NAMED("phase"), NUMBER("onesided", U32),
        NUMBER("messages_sent", U64), BYTES("bytes_sent"), NUMBER("messages_received", U64), BYTES("bytes_received"),
    };
    static const struct mpitx_run_field sizes[] = {
        NAMED("function"), NAMED("phase"), NUMBER("received", U32),
        NUMBER("messages", U64, .count = PROFILE_SIZES), BYTES("bytes"),
    };
    static const struct mpitx_run_field phases[] = {
        NAMED("phase"), NUMBER("entered", U64), TICKS("ticks"),
        TIME("first", .merge = MPITX_RUN_MIN),
        TIME("last", .merge = MPITX_RUN_MAX),
        TICKS("self"),
    };
    uint32_t peers_bytes = 0, sizes_bytes = 0, phases_bytes = 0;
    peers_table = mpitx_run_declare_table(agent_run, "profile peers", peers, COUNT(peers), 4, &peers_bytes);
    sizes_table = mpitx_run_declare_table(agent_run, "profile sizes", sizes, COUNT(sizes), 3, &sizes_bytes);
    phases_table = mpitx_run_declare_table(agent_run, "profile phases", phases, COUNT(phases), 1, &phases_bytes);
    declare_arrivals();
    return declare_calls() && declare_waits() && (!algorithms_on || declare_served()) && peers_table >= 0 && sizes_table >= 0 && phases_table >= 0 &&
           peers_bytes == sizeof(struct peers_row) && sizes_bytes == sizeof(struct sizes_row) &&
           phases_bytes == sizeof(struct phases_row);
}

/* ---- threads ---- */

static struct profile_thread *free_threads; /* of threads that have ended: the next one continues with their rows */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held for a few instructions when a thread starts or ends */

static struct profile_thread *take_free(void)
{
    struct hold hold = hold_lock(&lock);
    struct profile_thread *thread = free_threads;
    if (thread) free_threads = thread->next_free;
    hold_unlock(&lock, hold);
    return thread;
}

struct profile_thread *profile_thread_new(void)
{
    static uint32_t threads;
    struct profile_thread *thread = take_free();
    if (!thread && !(thread = memory_map(sizeof *thread, 0))) return NULL;
    if (!thread->number) thread->number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    thread->phase_depth = 0;
    thread->random = clock_ticks() ^ (uintptr_t)thread;
    thread->local.row = NULL;
    thread->object = (struct objects_last){0};
    thread->stream = -1;
    return profile_thread = thread;
}

void profile_thread_end(void)
{
    struct profile_thread *thread = profile_thread;
    profile_thread = NULL;
    if (!thread) return;
    if (thread->stream >= 0) mpitx_run_thread_end(agent_run, thread->stream);
    struct hold hold = hold_lock(&lock);
    thread->next_free = free_threads;
    free_threads = thread;
    hold_unlock(&lock, hold);
}

/* ---- rows ---- */

static void place(struct mpitx_run_row **places, uint32_t size, struct mpitx_run_row *row, unsigned words)
{
    uint32_t i = (uint32_t)rows_hash((const uint64_t *)(const void *)(row + 1), words);
    while (places[i & (size - 1)]) i++;
    places[i & (size - 1)] = row;
}

/* Makes room for one more row; at most half of the places are used. */
static bool grow(struct rows *rows, unsigned words)
{
    if (rows->count * 2 < rows->size) return true;
    uint32_t size = rows->size ? rows->size * 2 : FIRST_PLACES;
    struct mpitx_run_row **places = memory_map(size * sizeof *places, 0);
    if (!places) return false;
    for (uint32_t i = 0; i < rows->size; i++)
        if (rows->places[i]) place(places, size, rows->places[i], words);
    struct mpitx_run_row **old = rows->places; /* a signal handler may leave by siglongjmp at any point */
    uint32_t old_size = rows->size;
    rows->places = places;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    rows->size = size;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (old) unmap_memory(old, old_size * sizeof *places);
    return true;
}

static struct mpitx_run_row *add(struct rows *rows, int table, const void *values, unsigned words)
{
    if (!grow(rows, words)) return NULL;
    struct mpitx_run_row *row = mpitx_run_row(agent_run, table, values);
    if (!row) return NULL;
    place(rows->places, rows->size, row, words);
    rows->count++;
    return row;
}

static struct mpitx_run_row *add_calls(struct profile_thread *thread, const uint64_t *key)
{
    uint64_t row[1 + KEY_MOST + sizeof(struct calls) / sizeof(uint64_t)] = {0};
    unsigned words = CALLS_WORDS + profile_stack;
    memcpy(row + 1, key, words * sizeof *row);
    struct calls *values = (struct calls *)(void *)(row + 1 + words);
    values->shortest = UINT64_MAX;
    return add(&thread->calls, calls_table, row, words);
}

/* ---- a full profile ---- */

enum part { NOTHING, OBJECTS, PHASES, SITES, PARTS };

/* Nearly: how many rows the thread would have if they did not tell these apart. */
static uint32_t rows_without(const struct rows *rows, enum part part)
{
    static uint64_t seen[1024]; /* of one thread only: see note_full */
    uint32_t found = 0;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < rows->size; i++) {
        if (!rows->places[i]) continue;
        uint64_t key[KEY_MOST];
        unsigned words = CALLS_WORDS + profile_stack;
        memcpy(key, rows->places[i] + 1, words * sizeof *key);
        if (part == PHASES) key[0] = profile_pair((uint32_t)key[0], 0);
        if (part == OBJECTS) key[1] &= ~(uint64_t)UINT32_MAX;
        if (part == SITES) memset(key + CALLS_WORDS, 0, profile_stack * sizeof *key);
        uint32_t bit = (uint32_t)(rows_hash(key, words) >> 16) & 0xffff;
        found += !(seen[bit / 64] >> bit % 64 & 1);
        seen[bit / 64] |= UINT64_C(1) << bit % 64;
    }
    return found;
}

static const char *why_full(const struct rows *rows)
{
    static char text[160];
    enum part most = NOTHING;
    uint32_t least = rows_without(rows, NOTHING) / 2;
    bool shared;
    if (rows->count < calls_most / 4)
        return "many threads call MPI, each with rows of its own; choose fewer functions with --exclude";
    for (enum part part = OBJECTS; part < PARTS; part++) {
        uint32_t left = rows_without(rows, part);
        if (left < least) least = left, most = part;
    }
    switch (most) {
    case OBJECTS: {
        uint32_t alive = objects_count(&shared);
        if (alive < calls_most / 16)
            return shared
                   ? "the program uses too many communicators, windows and files of different lines; choose fewer "
                     "functions with --exclude" : "the program uses too many communicators, windows and files; "
                                                  "profile it without traces, events and conditions: freed ones of "
                                                  "one line then share rows";
        snprintf(text, sizeof text,
                 "%u communicators, windows and files are not freed; free those that the program does not need: freed "
                 "ones of one line share rows", alive);
        return text;
    }
    case PHASES: return "the program has too many phases; use fewer names, or choose fewer functions with --exclude";
    case SITES: return "the program calls MPI from too many places; use a smaller --stack, such as --stack 0";
    default: return "the program calls MPI from too many places, in many phases and with many communicators; use "
                    "--stack 0, or choose fewer functions with --exclude";
    }
}

static void note_full(const struct profile_thread *thread)
{
    static bool noted;
    char text[400];
    if (__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED)) return;
    snprintf(text, sizeof text,
             "the profile is full: %s. Totals of functions are right; some calls are counted without their "
             "communicator, phase or call site", why_full(&thread->calls));
    agent_report_code(MPITX_RUN_WARNING, MPITX_RUN_NOTE_REDUCED, text);
}

/* A row that calls with different keys share. */
static struct mpitx_run_row *shared(struct profile_thread *thread, uint64_t *key, bool more)
{
    unsigned words = CALLS_WORDS + profile_stack;
    struct mpitx_run_row *row = rows_find(&thread->calls, key, words, rows_hash(key, words));
    return row || !more ? row : add_calls(thread, key);
}

/* Beyond the limit, calls share a row with others of their call site, whatever the object. If these are too many as
 * well, with all calls of their function. */
static struct mpitx_run_row *add_shared(struct profile_thread *thread, uint64_t *key)
{
    note_full(thread);
    key[1] &= ~(uint64_t)UINT32_MAX; /* object */
    bool more = __atomic_add_fetch(&site_rows, 1, __ATOMIC_RELAXED) <= calls_most / 4;
    uint32_t before = thread->calls.count;
    struct mpitx_run_row *row = shared(thread, key, more);
    if (thread->calls.count == before) __atomic_sub_fetch(&site_rows, 1, __ATOMIC_RELAXED);
    if (row) return row;
    key[0] = profile_pair((uint32_t)key[0], text_empty());
    memset(key + CALLS_WORDS, 0, profile_stack * sizeof *key);
    return shared(thread, key, true);
}

struct mpitx_run_row *profile_add_calls(struct profile_thread *thread, uint64_t *key)
{
    if (__atomic_add_fetch(&calls_rows, 1, __ATOMIC_RELAXED) <= calls_most - calls_most / 4)
        return add_calls(thread, key);
    __atomic_sub_fetch(&calls_rows, 1, __ATOMIC_RELAXED);
    return add_shared(thread, key);
}

struct mpitx_run_row *profile_add_waits(struct profile_thread *thread, const uint64_t *key)
{
    uint64_t row[1 + KEY_MOST + sizeof(struct waits) / sizeof(uint64_t)] = {0};
    unsigned words = WAITS_WORDS + profile_stack;
    if (__atomic_fetch_add(&waits_rows, 1, __ATOMIC_RELAXED) >= waits_most) {
        __atomic_fetch_sub(&waits_rows, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    memcpy(row + 1, key, words * sizeof *row);
    return add(&thread->waits, waits_table, row, words);
}

struct mpitx_run_row *profile_add_served(struct profile_thread *thread, const uint64_t *key)
{
    uint64_t row[1 + KEY_MOST + sizeof(struct served) / sizeof(uint64_t)] = {0};
    unsigned words = SERVED_WORDS + profile_stack;
    if (__atomic_fetch_add(&served_rows, 1, __ATOMIC_RELAXED) >= served_most) {
        __atomic_fetch_sub(&served_rows, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    memcpy(row + 1, key, words * sizeof *row);
    return add(&thread->served, served_table, row, words);
}

struct mpitx_run_row *profile_add_arrivals(struct profile_thread *thread, const uint64_t *key)
{
    uint64_t row[1 + KEY_MOST + sizeof(struct arrivals) / sizeof(uint64_t)] = {0};
    unsigned words = CALLS_WORDS + profile_stack;
    if (__atomic_fetch_add(&arrivals_rows, 1, __ATOMIC_RELAXED) >= arrivals_most) {
        __atomic_fetch_sub(&arrivals_rows, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    memcpy(row + 1, key, words * sizeof *row);
    ((struct arrivals *)(void *)(row + 1 + words))->limit = UINT64_MAX;
    return add(&thread->arrivals, arrivals_table, row, words);
}

struct mpitx_run_row *profile_add_peers(struct profile_thread *thread, const uint64_t *key)
{
    struct peers_row row = {.key = {key[0], key[1]}};
    return add(&thread->peers, peers_table, &row, PEERS_WORDS);
}

struct mpitx_run_row *profile_add_sizes(struct profile_thread *thread, const uint64_t *key)
{
    struct sizes_row row = {.key = {key[0], key[1]}};
    return add(&thread->sizes, sizes_table, &row, SIZES_WORDS);
}

struct mpitx_run_row *profile_add_phase(struct profile_thread *thread, uint64_t phase, uint64_t now)
{
    struct phases_row row = {.key = {phase}, .first = now, .last = now};
    if (__atomic_fetch_add(&phases_rows, 1, __ATOMIC_RELAXED) >= PHASES_ROWS) return NULL;
    return add(&thread->phases, phases_table, &row, PHASES_WORDS);
}
