/* chain.c: starts the chain, and passes on what calls contain: messages to observers, objects to the owner. */
#include "chain/internal.h"

#include "mpi/describe_state.h"
#include "mpi/requests.h"

static void object_made(enum call_object kind, union mpi_handle object, const struct call_creation *how)
{
    chain_owner->object(&(struct chain_object){CHAIN_OBJECT_MADE, kind, object, chain_functions[how->function].name,
                                               how->name, how->function, how->parent, how->job});
}

static void object_named(enum call_object kind, union mpi_handle object, const char *name)
{
    chain_owner->object(&(struct chain_object){.event = CHAIN_OBJECT_NAMED, .kind = kind, .handle = object,
                                               .text = name});
}

static void object_freeing(enum call_object kind, union mpi_handle object)
{
    chain_owner->object(&(struct chain_object){.event = CHAIN_OBJECT_FREEING, .kind = kind, .handle = object});
}

static const struct chain_call *call_of(const struct call_description *description)
{
    return (const struct chain_call *)((const char *)description - offsetof(struct chain_call, description));
}

static void report_completed(const struct call_description *description, const struct call_completion *completion)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        (*o)->completed(call, completion);
}

static void report_send_ended(const struct call_description *description, struct call_peer to)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->send_ended) (*o)->send_ended(call, to);
}

static void report_request_ended(const struct call_description *description, const struct call_request_end *end)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->request_ended) (*o)->request_ended(call, end);
}

static void report_restarted(const struct call_description *description, uint64_t request)
{
    const struct chain_call *call = call_of(description);
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)
        if ((*o)->restarted) (*o)->restarted(call, request);
}

void chain_set_owner(const struct chain_owner *owner) { chain_owner = owner; }

void chain_go(void)
{
    call_hooks = (struct call_hooks){report_completed, report_send_ended, report_request_ended, report_restarted,
                                     chain_pend, object_made, object_named, object_freeing, chain_owner->spawning,
                                     chain_owner->spawned};
    chain_run();
}

struct chain_losses chain_losses(void)
{
    return (struct chain_losses){.requests = requests_lost, .locked = requests_locked, .frames = chain_lost_frames,
                                 .memory = describe_lost_memory, .sizes = describe_lost_sizes};
}
