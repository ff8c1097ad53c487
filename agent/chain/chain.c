/* chain.c: starts the chain, and passes on what calls contain: messages to observers, objects to the owner. */
#include "chain/internal.h"

#include "mpi/describe_state.h"
#include "mpi/requests.h"

static void pass(const struct chain_object *object)
{
    void (*other)(const struct chain_object *) = __atomic_load_n(&chain_other_object, __ATOMIC_ACQUIRE);
    if (object->kind <= CALL_FILE)
        chain_owner->object(object);
    else if (other)
        other(object);
}

static void object_made(enum call_object kind, union mpi_handle object, const struct call_creation *how)
{
    pass(&(struct chain_object){.event = CHAIN_OBJECT_MADE, .kind = kind, .handle = object,
                                .text = chain_functions[how->function].name, .name = how->name,
                                .function = how->function, .parent = how->parent, .job = how->job});
}

static void object_named(enum call_object kind, union mpi_handle object, const char *name)
{
    pass(&(struct chain_object){.event = CHAIN_OBJECT_NAMED, .kind = kind, .handle = object, .text = name});
}

static void object_freeing(enum call_object kind, union mpi_handle object)
{
    pass(&(struct chain_object){.event = CHAIN_OBJECT_FREEING, .kind = kind, .handle = object});
}

static void request_taken(union mpi_handle request, int place)
{
    pass(&(struct chain_object){.event = CHAIN_OBJECT_TAKEN, .kind = CALL_REQUEST, .handle = request, .place = place});
}

static void request_left(union mpi_handle request, int place)
{
    pass(&(struct chain_object){.event = CHAIN_OBJECT_LEFT, .kind = CALL_REQUEST, .handle = request, .place = place});
}

static const struct chain_call *call_of(const struct call_description *description)
{
    return (const struct chain_call *)((const char *)description - offsetof(struct chain_call, description));
}

/* Calls a callback of the observers that want completions. */
#define REPORT(callback, ...)                                                                                          \
    const struct chain_call *call = call_of(description);                                                              \
    for (const struct chain_observer *const *o = chain_observers[call->function].completed; *o; o++)                   \
        if ((*o)->callback) (*o)->callback(call, __VA_ARGS__)

static void report_completed(const struct call_description *description, const struct call_completion *completion)
{
    REPORT(completed, completion);
}

static void report_send_ended(const struct call_description *description, struct call_peer to)
{
    REPORT(send_ended, to);
}

static void report_request_ended(const struct call_description *description, const struct call_request_end *end)
{
    REPORT(request_ended, end);
}

static void report_restarted(const struct call_description *description, uint64_t request, enum call_restart what)
{
    REPORT(restarted, request, what);
}

static void report_channel(const struct call_description *description, struct call_channel *channel)
{
    REPORT(channel_made, channel);
}

void chain_go(void)
{
    call_hooks = (struct call_hooks){report_completed, report_send_ended, report_request_ended, report_restarted,
                                     report_channel, chain_pend, object_made, object_named, object_freeing, chain_owner->spawning,
                                     chain_owner->spawned, request_taken, request_left};
    chain_run();
}

struct chain_losses chain_losses(void)
{
    return (struct chain_losses){.requests = requests_lost, .locked = requests_locked, .frames = chain_lost_frames,
                                 .memory = describe_lost_memory, .sizes = describe_lost_sizes};
}
