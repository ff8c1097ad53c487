/* trace.h: the tool that records calls and messages, one event each, for `mpitx trace`.
 *
 *     trace.c     settings, start and end
 *     record.c    what a call and a message record
 *     order.c     numbers messages, and finds those whose order threads make ambiguous
 *     sites.c     call sites
 *     phases.c    phases of the application
 *
 * Each thread writes to its own chain of chunks, so that no call waits for another. Without room, the newest events are
 * dropped and counted. docs/run-format.md ("Events of traces") describes the events. */
#ifndef MPITX_TRACE_H
#define MPITX_TRACE_H

#include "tools/objects/objects.h"

#pragma GCC visibility push(hidden)

/* ---- events ---- */

enum trace_flags {
    TRACE_SENT = 1,        /* with the message that the call sent */
    TRACE_RECEIVED = 2,    /* with the message that it received */
    TRACE_ESTIMATED = 4,   /* what arrived is not known: source, tag and bytes are the posted receive's */
    TRACE_FAILED = 8,      /* the call returned an error */
    TRACE_ABANDONED = 16,  /* longjmp, an exception or cancellation ended it */
    TRACE_POSTS = 32,      /* it posted a receive that a later call completes */
    TRACE_CONCURRENT = 64, /* another thread sent or received in between: the order of messages is ambiguous */
    TRACE_ROOT = 128,      /* the peer is the root of a collective */
    TRACE_OPEN = 256,      /* the thread was still in the call when the process ended */
    TRACE_ONESIDED = 512,  /* the peer is the target */
    TRACE_PARTS = 1024,    /* the message is partitioned; older agents also set it in calls and messages */
    TRACE_EXCLUSIVE = 2048, /* it locks the window at the target exclusively */
    TRACE_DEPTH = 16,      /* from this bit: in how many calls it is nested */
    TRACE_SLOT = 24 /* from this bit: the slot that keeps the call, so that others can repeat it, from 1; 0: none */
};

/* With TRACE_SENT or TRACE_RECEIVED, all fields but begin, site and function are the message's. */
struct trace_call {
    uint64_t begin;
    uint32_t request, sequence;
    uint64_t site, bytes; /* from here on, equal in calls that repeat it */
    uint32_t function, object;
    int32_t peer, tag, job;
    uint32_t flags;
    uint32_t algorithm, reserved; /* the text of what served a collective call, or the empty text */
};

/* A call like the one in a slot. That one is in the same chunk. */
struct trace_repeat {
    uint32_t slot, lasted, request, sequence;
};

/* A message of a call with several. */
struct trace_message {
    uint64_t begin;
    uint32_t request, sequence;
    uint64_t bytes;
    uint32_t function, object;
    int32_t peer, tag, job;
    uint32_t flags;
};

/* A partitioned message, right before the call that starts its send or completes its receive. It belongs to the one with
 * the same channel and sequence on the other side. */
struct trace_partitioned {
    uint64_t begin;
    uint32_t request, sequence; /* counts the starts of the request */
    uint64_t bytes;
    uint32_t function, object;
    int32_t peer, tag, job;
    uint32_t flags, channel, partitions;
};

/* A message that a function received which is not selected: it decides the order of others. */
struct trace_hidden {
    uint64_t begin;
    uint32_t request, sequence, object;
    int32_t peer, tag, job;
    uint32_t flags, reserved;
};

/* A persistent receive was started, or one was posted by a function that is not selected. Partitioned receives have a
 * type of their own, as they do not match other messages. */
struct trace_post {
    uint64_t begin;
    uint32_t request, flags;
};

/* A send was completed, by the call that follows. */
struct trace_done {
    uint32_t request, flags;
};

/* MPI_Cancel was called for the request of a message (outcome 0), and the outcome: 1 it was cancelled, 2 it was not. */
struct trace_cancel {
    uint32_t request, outcome, object;
    int32_t peer, tag, job;
    uint32_t flags, reserved;
};

/* Earlier calls returned outside of the window, or while MPI_Pcontrol had switched the recording off. They may have
 * made and completed requests. `request` is the newest one. */
struct trace_part {
    uint64_t begin; /* of the call that follows */
    uint32_t request, reserved;
};

/* ---- threads.c ---- */

struct trace_stream {
    int32_t peer, tag;
};

/* What a thread sends or posts at the moment. Other threads read it. */
struct trace_posting {
    uint64_t comm; /* 0: any, with any peer and tag */
    struct trace_stream sent, posted;
    uint8_t active, sends, posts, partitioned;
    uint8_t sends_concurrently, posts_concurrently; /* set by other threads */
};

enum { TRACE_SLOTS = 64 };

struct trace_slot {
    struct trace_call call;
    uint32_t chunk; /* that has the call; 0: none */
};

struct trace_thread {
    struct trace_thread *next, *next_free;
    struct trace_posting posting;
    const struct chain_call *recorded; /* the call that is being recorded; NULL: none */
    const struct chain_call *held; /* the call whose first message is in `message` */
    struct trace_message message;
    bool written; /* that message, as the call has another one */
    struct objects_last object;
    uint32_t level_phase; /* of MPI_Pcontrol, plus 1; 0: none */
    int stream;           /* negative: none */
    struct trace_slot slots[TRACE_SLOTS];
};

extern AGENT_THREAD struct trace_thread *trace_thread;
extern struct trace_thread *trace_threads; /* all that ever were, by `next` */
struct trace_thread *trace_thread_new(void); /* NULL: out of memory */
void trace_thread_end(void);

static inline struct trace_thread *trace_find_thread(void)
{
    return __builtin_expect(trace_thread != NULL, 1) ? trace_thread : trace_thread_new();
}

/* Calls in signal handlers that interrupted the recording of another call: they are not recorded. */
extern uint64_t trace_interrupting;

/* False in a signal handler that has interrupted the recording of another call of this thread, from its first message
 * on. Calls lie in their thread's array by depth: a handler's has a greater depth, and any other one follows a
 * recording that was left by siglongjmp. */
static inline bool trace_begin(struct trace_thread *thread, const struct chain_call *call)
{
    const struct chain_call *other = thread->recorded ? thread->recorded : thread->held;
    if (__builtin_expect(other != NULL, 0) && other < call) {
        __atomic_fetch_add(&trace_interrupting, 1, __ATOMIC_RELAXED);
        return false;
    }
    thread->recorded = call;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return true;
}

static inline void trace_end(struct trace_thread *thread)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    thread->recorded = NULL;
}

extern struct mpitx_run *trace_run; /* NULL: no trace, or it has ended */

/* NULL: not recording. MPI_Pcontrol(0) sets it to NULL, MPI_Pcontrol(1) restores it. */
extern struct mpitx_run *trace_recording;

/* Between trace_begin and trace_end. */
static inline void trace_write(struct mpitx_run *to, struct trace_thread *thread, int type, uint64_t ticks,
                               const void *event)
{
    if (__builtin_expect(thread->stream < 0, 0)) thread->stream = mpitx_run_thread_begin(to);
    if (thread->stream >= 0) mpitx_run_event(to, thread->stream, type, ticks, event);
}

/* ---- record.c ---- */

/* hidden: not selected, but decides the order of received messages */
enum { TRACE_SELECTED = 1, TRACE_PARTITIONED = 2, TRACE_HIDDEN = 4 };
extern uint8_t *trace_roles; /* by function */
extern uint32_t trace_no_text; /* the empty text */
extern struct trace_types {
    int call, repeat, message, hidden, post, done, cancel, part, partitioned, start;
} trace_types;
extern const struct chain_observer trace_observer;
void trace_record_open_calls(void);
void trace_record_unseen(void);

/* ---- order.c ---- */

/* The number of a message among those with its communicator, peer, tag and direction, from 1; 0: unknown. */
uint32_t order_number(uint32_t object, struct call_peer peer, int32_t tag, bool received);

/* The same for the initialization of partitioned messages, which match only each other. */
uint32_t order_channel(uint32_t object, struct call_peer peer, int32_t tag, bool received);

/* A receive has completed whose source or tag is not known. */
void order_unseen(void);

/* Messages were not numbered: no later one has a number. */
void order_unknown(void);

extern bool order_concurrent; /* several threads may call MPI at once */

void order_start(void);
void order_enter(struct trace_thread *thread, const struct chain_call *call); /* before it sends or posts */
static inline void order_leave(struct trace_thread *thread)
{
    __atomic_store_n(&thread->posting.active, 0, __ATOMIC_RELEASE);
}

/* ---- phases.c ---- */

bool trace_phases_start(void);
void trace_phases_pcontrol(int level, const void *argument);

#pragma GCC visibility pop

#endif
