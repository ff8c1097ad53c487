/* reads.c: one-sided reads that a thread repeats. A loop that reads the same place until its value changes is polling:
 * it is progress only when the value changes. */
#include "base/memory.h"
#include "chain/internal.h"

enum { MOST_BYTES = sizeof(uint64_t), MOST_SKIPPED = 255 };

static uint64_t mix(uint64_t key, uint64_t value)
{
    return ((key ^ value) * UINT64_C(0x9e3779b97f4a7c15)) ^ (key >> 29);
}

static struct chain_read *find(struct chain_state_thread *thread, uint64_t key)
{
    for (int i = 0; i < CHAIN_READS; i++)
        if (thread->read[i].bytes && thread->read[i].key == key) return &thread->read[i];
    return NULL;
}

void chain_state_read(struct chain_state *state, int64_t displacement, const void *buffer, uint64_t bytes)
{
    struct chain_state_thread *thread = &chain_state_thread;
    uint64_t from = (uint64_t)(uintptr_t)buffer;
    uint64_t key = mix(mix(mix(mix(state->object, (uint64_t)displacement), (uint32_t)state->peer), state->address),
                       from + bytes);
    struct chain_read *read = find(thread, key);
    thread->window = state->object;
    thread->target = state->peer;
    thread->read_request = 0;
    if (!read) {
        state->progress++;
        if (bytes == 0 || bytes > MOST_BYTES) return;
        read = &thread->read[thread->read_next++ % CHAIN_READS];
        *read = (struct chain_read){.key = key, .buffer = from, .bytes = (uint32_t)bytes};
    } else if (read->skip > 0) {
        read->skip--;
        state->progress++;
    } else {
        state->read_window = state->object;
        state->read_displacement = displacement;
        state->read_address = state->address;
        state->read_function = state->function;
        state->read_target = state->peer;
        read->pending = thread->reading = thread->repeated = true;
    }
}

void chain_state_reads_end(struct chain_state *state)
{
    struct chain_state_thread *thread = &chain_state_thread;
    thread->reading = false;
    thread->read_request = 0;
    for (int i = 0; i < CHAIN_READS; i++) {
        struct chain_read *read = &thread->read[i];
        uint64_t value = 0;
        if (!read->pending) continue;
        read->pending = false;
        bool there = memory_read(read->buffer, &value, read->bytes); /* a wrong program may have freed it */
        bool same = there && read->known && value == read->value;
        if (read->known && !same) state->progress++;
        read->skip = read->pause = same || !read->known ? 0 : read->pause > MOST_SKIPPED / 2 ? MOST_SKIPPED
                     : (uint8_t)(2 * read->pause + 1);
        state->reads = same ? state->reads + 1 : 0;
        state->read_progress = state->progress;
        read->known = there;
        read->value = value;
    }
}
