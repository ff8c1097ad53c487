/* served.c: which algorithms served collective calls, by bytes. A call that gives and gets counts with the smaller
 * number, so that the root's call counts like those of the other ranks. */
#include <string.h>

#include "tools/algorithms/algorithms.h"
#include "tools/profile/profile.h"

void served_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
                const struct mpitx_run_row *row)
{
    const uint64_t *of_call = (const uint64_t *)(const void *)(row + 1);
    const struct call_description *d = &call->description;
    uint64_t bytes = d->gave && (d->gave < d->got || !d->got) ? d->gave : d->got;
    unsigned words = SERVED_WORDS + profile_stack;
    uint64_t key[KEY_MOST] = {of_call[0], profile_pair((uint32_t)of_call[1], size_bucket(bytes)),
                              profile_pair(algorithms_text(call), 0)};
    memcpy(key + SERVED_WORDS, of_call + CALLS_WORDS, profile_stack * sizeof *key);
    struct mpitx_run_row *served = rows_find(&thread->served, key, words, rows_hash(key, words));
    if (!served) served = profile_add_served(thread, key);
    if (!mpitx_run_row_begin(to, served)) return;
    struct served *values = served_of(served);
    values->calls++;
    values->bytes += bytes;
    if (call->enter && !call->abandoned && call->depth == 0) values->ticks += call->leave - call->enter;
    mpitx_run_row_end(served);
}
