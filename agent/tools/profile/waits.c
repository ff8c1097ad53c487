/* waits.c: for whom calls wait.
 *
 * A call that takes long has waited for the processes whose messages it received or, if it received none, for those
 * that it has sent to. Short calls are not looked at, as this would cost more than they may have waited. */
#include <string.h>

#include "base/clock.h"
#include "mpi/peers.h"
#include "tools/profile/profile.h"

enum { LONG_NS = 2000 };

void waits_start(void) { chain_report_long(clock_from_nanoseconds(LONG_NS)); }

void waits_for(struct profile_thread *thread, const struct chain_call *call, struct call_peer peer, bool received)
{
    struct awaited *list = &thread->awaited;
    if (peer.job != CALL_NONE && peer.rank < 0) return; /* MPI_PROC_NULL */
    if (list->enter != call->enter || received != list->received) {
        if (list->enter == call->enter && list->received && list->count) return;
        list->enter = call->enter;
        list->received = received;
        list->count = 0;
    }
    for (uint32_t i = 0; i < list->count; i++)
        if (list->peers[i].rank == peer.rank && list->peers[i].job == peer.job) return;
    if (list->count < AWAITED_MOST) list->peers[list->count++] = peer;
}

static void add(struct mpitx_run *to, struct profile_thread *thread, const uint64_t *key, uint64_t ticks, bool shared)
{
    unsigned words = WAITS_WORDS + profile_stack;
    struct mpitx_run_row *row = rows_find(&thread->waits, key, words, rows_hash(key, words));
    if (!row) row = profile_add_waits(thread, key);
    if (!mpitx_run_row_begin(to, row)) return;
    struct waits *values = waits_of(row);
    if (shared) {
        values->shared_calls++;
        values->shared_ticks += ticks;
    } else {
        values->calls++;
        values->ticks += ticks;
    }
    mpitx_run_row_end(row);
}

/* A call that completes nothing and names its peer: MPI_Probe. */
static void waits_for_argument(struct profile_thread *thread, const struct chain_call *call)
{
    const struct call_description *arguments = &call->description;
    if (chain_functions[call->function].kind != CALL_POINT_TO_POINT || arguments->peer < 0 || call->rc != 0) return;
    waits_for(thread, call, peers_find(arguments->comm, false, arguments->epoch, arguments->peer), true);
}

void waits_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
               const struct mpitx_run_row *row)
{
    struct awaited *list = &thread->awaited;
    if (call->depth > 0 || call->description.started) return; /* in the time of another call; does not wait */
    if (list->enter != call->enter) waits_for_argument(thread, call);
    if (list->enter != call->enter) return;
    const uint64_t *of_call = (const uint64_t *)(const void *)(row + 1);
    uint64_t key[KEY_MOST] = {of_call[0]};
    memcpy(key + WAITS_WORDS, of_call + CALLS_WORDS, profile_stack * sizeof *key);
    for (uint32_t i = 0; i < list->count; i++) {
        key[1] = profile_pair((uint32_t)list->peers[i].job, (uint32_t)list->peers[i].rank);
        add(to, thread, key, call->leave - call->enter, list->count > 1);
    }
    list->enter = 0;
}
