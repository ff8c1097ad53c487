/* arrivals.c: when this process comes to collective calls that the other processes keep, too.
 *
 * A call has a number that is the same in all processes: a hash of its communicator and of how many collective calls
 * came before it there. Each row keeps the calls with the lowest numbers. So all processes keep the same ones without
 * a message, spread evenly over the run. */
#include "tools/profile/profile.h"

static int barrier;

void arrivals_start(void) { barrier = chain_function_id("MPI_Barrier"); }

static NOINLINE void find(struct profile_thread *thread, const struct chain_call *call,
                          const struct mpitx_run_row *of, struct recent_arrivals *found)
{
    const struct call_description *d = &call->description;
    const uint64_t *of_call = (const uint64_t *)(const void *)(of + 1);
    struct objects_identity identity = objects_identity(objects_of_call(&thread->object, call, d->comm, d->epoch,
                                                                        CALL_COMM));
    unsigned words = CALLS_WORDS + profile_stack;
    uint64_t key[KEY_MOST];
    *found = (struct recent_arrivals){of, d->comm, NULL, identity, d->epoch};
    if (!identity.number || identity.size < 2) return;
    for (unsigned i = 0; i < words; i++) key[i] = of_call[i];
    key[1] = profile_pair((uint32_t)of_call[1], thread->number);
    found->row = rows_find(&thread->arrivals, key, words, rows_hash(key, words));
    if (!found->row) found->row = profile_add_arrivals(thread, key);
}

static uint32_t highest(const struct arrivals *values)
{
    uint32_t found = 0;
    for (uint32_t i = 1; i < ARRIVALS; i++)
        if (values->instance[i] > values->instance[found]) found = i;
    return found;
}

/* In the place of the highest number, once the row is full. */
static NOINLINE void keep(struct mpitx_run *to, const struct chain_call *call, const struct recent_arrivals *recent,
                          uint64_t instance)
{
    struct arrivals *values = arrivals_of(recent->row);
    int32_t root = call->description.peer;
    if (!mpitx_run_row_begin(to, recent->row)) return;
    uint32_t i = values->kept < ARRIVALS ? values->kept++ : highest(values);
    values->instance[i] = instance;
    values->enter[i] = call->enter;
    values->leave[i] = call->leave;
    values->size[i] = (uint32_t)recent->identity.size;
    values->role[i] = root == CALL_NONE ? ARRIVES_ALIKE : root == recent->identity.rank ? ARRIVES_ROOT : ARRIVES_OTHER;
    if (values->kept == ARRIVALS) values->limit = values->instance[highest(values)];
    mpitx_run_row_end(recent->row);
}

void arrivals_add(struct mpitx_run *to, struct profile_thread *thread, const struct chain_call *call,
                  const struct mpitx_run_row *row)
{
    const struct call_description *d = &call->description;
    uint64_t number = chain_collective_number(call);
    if (!number || call->depth > 0 || call->rc != 0 || call->abandoned || !call->described || !call->enter) return;
    if (!(d->gave | d->got) && call->function != barrier) return; /* nobody need wait for a process without data */
    struct recent_arrivals *recent = &thread->recent_arrivals[recent_place((uintptr_t)row)];
    if (recent->of != row || recent->comm != d->comm || recent->epoch != d->epoch) find(thread, call, row, recent);
    if (!recent->row) return;
    uint64_t instance = objects_mix(recent->identity.number + number);
    if (instance < arrivals_of(recent->row)->limit) keep(to, call, recent, instance);
}
