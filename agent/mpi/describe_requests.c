/* describe_requests.c: starting, keeping and completing requests. */
#include "base/memory.h"
#include "mpi/describe.h"

#include "mpi/ask.h"

#include <stdlib.h>

/* Fills in the request in place: copying it would stall until the writes to the source are complete. */
static void fill(struct request *made, const struct call_description *call, uint64_t bytes, int peer, int tag)
{
    made->comm = call->comm;
    made->bytes = bytes;
    made->function = call->function;
    made->peer = peer;
    made->tag = tag;
    made->epoch = call->epoch;
    epochs_post(call->comm);
}

static void start(struct call_description *call, const MPI_Request *request, enum request_kind kind, uint64_t bytes,
                  int peer, int tag)
{
    call->requests = request;
    call->request_count = 1;
    if (*request == NULL_REQUEST) return;
    call->started++;
    if (!requests_tracked) return;
    uint64_t handle = HANDLE_NUMBER(*request);
    struct request *made = requests_open(handle, kind, false);
    if (!made) {
        call->started--; /* its completion will not be seen either */
        return;
    }
    if (call->request) made->serial = call->request - 1; /* MPI_Imrecv: the matched message's */
    call->request = made->serial + 1;
    fill(made, call, bytes, peer, tag);
    requests_close(handle);
}

void describe_started(struct call_description *call, const MPI_Request *request, int kind)
{
    start(call, request, kind, call->sent_bytes, call->peer, call->tag);
}

void describe_exchange(struct call_description *call, const MPI_Request *request, int64_t count, MPI_Datatype datatype)
{
    int kind = call->source == MPI_PROC_NULL ? REQUEST_OTHER : REQUEST_EXCHANGE;
    start(call, request, kind, describe_bytes(call, count, datatype), call->source, call->source_tag);
}

static void report(const struct call_description *call, const struct request *request, bool received, int peer, int tag,
                   uint64_t bytes, bool estimated)
{
    struct call_completion completion = {.comm = request->comm, .epoch = request->epoch, .bytes = bytes,
                                         .request = request->serial + 1, .function = request->function, .peer = peer,
                                         .tag = tag, .received = received, .estimated = estimated,
                                         .world = peers_find(request->comm, false, request->epoch, peer)};
    if (__builtin_expect(request_partitioned(request), 0)) {
        completion.partitions = (int32_t)request->partitions;
        completion.channel = request->channel;
        completion.start = request->starts;
    }
    call_hooks.completed(call, &completion);
}

static __attribute__((noinline)) void report_cancel(const struct call_description *call, const struct request *request,
                                                    enum call_end how)
{
    struct call_request_end end =
        {.request = request->serial + 1, .how = how, .received = request->kind != REQUEST_SEND, .comm = request->comm,
         .epoch = request->epoch, .world = peers_find(request->comm, false, request->epoch, request->peer),
         .tag = request->tag};
    call_hooks.request_ended(call, &end);
}

static void report_end(const struct call_description *call, const struct request *request)
{
    call_hooks.request_ended(call, &(struct call_request_end){.request = request->serial + 1, .how = CALL_ENDED});
}

static void report_send_end(const struct call_description *call, const struct request *request,
                            const MPI_Status *status)
{
    bool cancelled = false;
    if (__builtin_expect(!request->cancelling, 1)) {
        report_end(call, request);
    } else if (status) {
        describe_status(status, &cancelled);
        report_cancel(call, request, cancelled ? CALL_CANCELLED : CALL_NOT_CANCELLED);
    }
}

void describe_cancelling(struct call_description *call, MPI_Request request)
{
    struct request cancelled;
    if (request == NULL_REQUEST || !requests_tracked || !requests_cancel(HANDLE_NUMBER(request), &cancelled)) return;
    if (cancelled.kind != REQUEST_SEND && cancelled.kind != REQUEST_RECEIVE) return;
    call->request = cancelled.serial + 1;
    describe_request_object(call, &cancelled);
    if (call->completions) report_cancel(call, &cancelled, CALL_CANCEL_ASKED);
}

/* A call with several requests has their communicator if it is the same for all. */
static inline void share_comm(struct call_description *call, const struct request *request, bool first)
{
    bool known = request->kind != REQUEST_OTHER && request->kind < REQUEST_FILE_READ;
    if (first && known)
        describe_request_object(call, request);
    else if (!known || call->comm != request->comm || call->epoch != request->epoch)
        call->comm = call->epoch = 0;
}

/* Moves the bytes of one start to the request. */
static void make(struct call_description *call, const MPI_Request *request, int kind, int partitions, uint32_t channel)
{
    bool collective = kind == REQUEST_COLLECTIVE;
    if (kind == REQUEST_SEND && !call->sent) kind = REQUEST_OTHER; /* to MPI_PROC_NULL */
    uint64_t handle = HANDLE_NUMBER(*request);
    struct request *made = requests_open(handle, (enum request_kind)kind, true);
    if (made) {
        fill(made, call, collective ? call->gave : call->sent_bytes, call->peer, call->tag);
        made->got = call->got;
        if (collective) call->request = made->serial + 1;
        if (request_partitioned(made)) {
            made->partitions = (uint32_t)partitions;
            made->channel = channel;
            made->starts = 0;
        }
        requests_close(handle);
    }
    describe_failed(call);
    call->requests = request;
    call->request_count = 1;
}

void describe_persistent(struct call_description *call, const MPI_Request *request, int kind)
{
    make(call, request, kind, 0, 0);
}

void describe_partitioned(struct call_description *call, const MPI_Request *request, int partitions, int kind)
{
    struct call_channel channel =
        {.comm = call->comm, .epoch = call->epoch, .tag = call->tag, .received = kind == REQUEST_PARTITIONED_RECEIVE};
    if (call->peer == MPI_PROC_NULL) {
        kind = REQUEST_OTHER;
    } else if (call->completions) {
        channel.world = peers_find(call->comm, false, call->epoch, call->peer);
        call_hooks.channel_made(call, &channel);
    }
    make(call, request, kind, partitions, channel.number);
}

/* After a call that marks partitions as ready. */
void describe_ready(struct call_description *call, MPI_Request request)
{
    struct request made;
    if (!requests_tracked || !requests_find(describe_request_number(request), &made)) return;
    call->request = made.serial + 1;
    call->peer = made.peer;
    call->tag = made.tag;
    describe_request_object(call, &made);
}

void describe_restarted(struct call_description *call, int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct request request;
        if (!requests_set_active(HANDLE_NUMBER(requests[i]), true, &request)) continue;
        call->started += !request.active; /* one completed unseen: MPICH's MPI_Waitany skips those with MPI_PROC_NULL */
        share_comm(call, &request, i == 0);
        bool partitioned = request.kind == REQUEST_PARTITIONED_RECEIVE, collective = request.kind == REQUEST_COLLECTIVE;
        if (call->completions && (request.kind == REQUEST_RECEIVE || partitioned || collective))
            call_hooks.restarted(call, request.serial + 1,
                                 collective ? CALL_COLLECTIVE_STARTED
                                            : partitioned ? CALL_PARTITIONED_STARTED : CALL_RECEIVE_STARTED);
        if (request.kind == REQUEST_SEND || request.kind == REQUEST_PARTITIONED_SEND) {
            call->sent++;
            call->sent_bytes += request.bytes;
            if (call->completions) report(call, &request, false, request.peer, request.tag, request.bytes, false);
        } else if (collective) {
            call->operations++;
            call->gave += request.bytes;
            call->got += request.got;
        }
    }
}

/* Called before the library frees the handle: another thread's new request with its handle would replace it. */
void describe_freeing(struct call_description *call, MPI_Request request, struct request *freed)
{
    if (request == NULL_REQUEST || !requests_take(HANDLE_NUMBER(request), call->made, freed)) freed->handle = 0;
}

void describe_freed(struct call_description *call, int rc, const struct request *freed)
{
    if (freed->handle == 0) return;
    if (rc != MPI_SUCCESS) {
        requests_add(freed);
        return;
    }
    call->completed += freed->active;
    if (freed->active && (freed->kind == REQUEST_RECEIVE || freed->kind == REQUEST_EXCHANGE))
        __atomic_fetch_add(&requests_freed, 1, __ATOMIC_RELAXED);
    if (freed->kind == REQUEST_COMM) call_hooks.pending(-1);
}

static void receive(struct call_description *call, const struct request *request, const MPI_Status *status)
{
    uint64_t bytes = request->bytes;
    int peer = request->peer, tag = request->tag;
    bool cancelled = false, estimated = request->kind == REQUEST_EXCHANGE && !ask_exchanges_are_filled;
    if (request->kind == REQUEST_PARTITIONED_RECEIVE) {
        /* libraries need not set its status */
    } else if (estimated) {
        if (peer == MPI_ANY_SOURCE) peer = CALL_NONE;
        if (tag == MPI_ANY_TAG) tag = CALL_NONE;
        call->estimated = true;
    } else {
        uint64_t known = describe_status(status, &cancelled);
        peer = status->MPI_SOURCE;
        tag = status->MPI_TAG;
        if (cancelled && call->completions) report_cancel(call, request, CALL_CANCELLED);
        if (cancelled || peer == MPI_PROC_NULL) return;
        if (request->kind == REQUEST_RECEIVE || (request->kind == REQUEST_EXCHANGE && known < bytes)) bytes = known;
    }
    call->received++;
    call->received_bytes += bytes;
    if (call->completions) report(call, request, true, peer, tag, bytes, estimated);
}

static __attribute__((noinline)) void send_ended(const struct call_description *call, const struct request *request)
{
    if (call->completions && request->peer >= 0)
        call_hooks.send_ended(call, peers_find(request->comm, false, request->epoch, request->peer));
}

void describe_completed(struct call_description *call, MPI_Request before, MPI_Request after, const MPI_Status *status)
{
    struct request request;
    if (before == NULL_REQUEST) return;
    if (after == before) {
        if (!requests_set_active(HANDLE_NUMBER(before), false, &request)) return;
    } else if (!requests_take(HANDLE_NUMBER(before), call->made, &request)) {
        return;
    }
    share_comm(call, &request, call->completed == 0);
    bool sends = request.kind == REQUEST_SEND || request.kind == REQUEST_PARTITIONED_SEND;
    if (__builtin_expect(call->lasted && sends, 0)) send_ended(call, &request);
    call->completed += request.active;
    if (request.active && call->completions && call_follows_ends) {
        if (request.kind == REQUEST_SEND && request.peer >= 0)
            report_send_end(call, &request, status);
        else if (request.kind == REQUEST_COLLECTIVE || request.kind == REQUEST_COMM ||
                 request.kind == REQUEST_PARTITIONED_SEND || request.kind >= REQUEST_FILE_READ)
            report_end(call, &request);
    }
    if (request.kind == REQUEST_COMM) {
        call_hooks.pending(-1);
        if (status) describe_comm_created(request.function, request.newcomm, describe_comm_of(request.comm));
    }
    if (!status) return;
    if (request.kind == REQUEST_FILE_READ)
        call->read += describe_status_bytes(status);
    else if (request.kind == REQUEST_RECEIVE || request.kind == REQUEST_PARTITIONED_RECEIVE ||
             request.kind == REQUEST_EXCHANGE)
        receive(call, &request, status);
}

/* ---- matched messages ---- */

void describe_matched(struct call_description *call, const MPI_Message *message)
{
    uint64_t handle = HANDLE_NUMBER(*message);
    struct request *matched = requests_tracked && call->peer != MPI_PROC_NULL
                              ? requests_open(handle, REQUEST_MESSAGE, false) : NULL;
    if (!matched) return;
    call->request = matched->serial + 1;
    fill(matched, call, 0, call->peer, call->tag);
    requests_close(handle);
}

void describe_matching(struct call_description *call, const MPI_Message *message)
{
    struct request matched;
    if (message && requests_tracked && requests_take(HANDLE_NUMBER(*message), UINT64_MAX, &matched)) {
        call->request = matched.serial + 1;
        describe_request_object(call, &matched);
    }
}

/* ---- many requests ---- */

MPI_Status *describe_save(struct describe_saved *saved, int count, const MPI_Request *requests, MPI_Status *statuses)
{
    saved->count = 0;
    saved->memory = NULL;
    saved->scratch = false;
    if (count <= 0 || !requests) return statuses;
    size_t number = (size_t)count, space = number * (sizeof(MPI_Request) + sizeof(MPI_Status));
    MPI_Status *own = saved->few_statuses;
    saved->requests = saved->few_requests;
    if (number > DESCRIBE_SAVED) {
        struct describe_thread *thread = &describe_thread;
        void *memory;
        if (thread->scratch_used) {
            memory = saved->memory = memory_get(space);
        } else {
            if (thread->scratch_size < space) {
                void *old = thread->scratch; /* a signal handler may leave by siglongjmp at any point */
                thread->scratch_size = 0;
                thread->scratch = NULL;
                __atomic_signal_fence(__ATOMIC_SEQ_CST);
                free(old);
                thread->scratch = memory_get(space);
                thread->scratch_size = thread->scratch ? space : 0;
            }
            memory = thread->scratch;
            saved->scratch = memory != NULL;
            thread->scratch_used = saved->scratch;
        }
        if (!memory) {
            __atomic_fetch_add(&describe_lost_memory, 1, __ATOMIC_RELAXED);
            return statuses;
        }
        saved->requests = memory;
        own = (MPI_Status *)(saved->requests + number);
    }
    for (size_t i = 0; i < number; i++) saved->requests[i] = requests[i];
    saved->count = count;
    return statuses == MPI_STATUSES_IGNORE ? own : statuses;
}

/* Ends the other requests that completed in a call that failed. Persistent requests show no difference. */
static void ended(struct call_description *call, const struct describe_saved *saved, const MPI_Request *requests)
{
    for (int i = 0; i < saved->count; i++)
        if (requests[i] == NULL_REQUEST) describe_completed(call, saved->requests[i], requests[i], NULL);
}

void describe_thread_end(void)
{
    free(describe_thread.scratch);
    peers_thread_end();
    describe_thread = (struct describe_thread){0};
}

static void done(struct describe_saved *saved)
{
    if (__builtin_expect(saved->memory != NULL, 0)) free(saved->memory);
    if (saved->scratch) describe_thread.scratch_used = 0;
}

void describe_completed_any(struct call_description *call, struct describe_saved *saved, int rc, bool completed,
                            const int *index, const MPI_Request *requests, const MPI_Status *status)
{
    if (rc != MPI_SUCCESS)
        ended(call, saved, requests);
    else if (completed && *index >= 0 && *index < saved->count)
        describe_completed(call, saved->requests[*index], requests[*index], status);
    done(saved);
}

/* After an error, the statuses say which requests are complete. */
static bool is_complete(int rc, const MPI_Status *status)
{
    return rc == MPI_SUCCESS || (status != MPI_STATUS_IGNORE && status->MPI_ERROR == MPI_SUCCESS);
}

/* Clears the saved request, so that it is described only once. */
static void complete_saved(struct call_description *call, struct describe_saved *saved, int i,
                           const MPI_Request *requests, const MPI_Status *status)
{
    describe_completed(call, saved->requests[i], requests[i], status);
    saved->requests[i] = NULL_REQUEST;
}

void describe_completed_all(struct call_description *call, struct describe_saved *saved, int rc, bool completed,
                            const MPI_Request *requests, const MPI_Status *statuses)
{
    int count = statuses && (completed || rc != MPI_SUCCESS) ? saved->count : 0;
    for (int i = 0; i < count; i++)
        if (is_complete(rc, &statuses[i])) complete_saved(call, saved, i, requests, &statuses[i]);
    if (rc != MPI_SUCCESS) ended(call, saved, requests);
    done(saved);
}

void describe_completed_some(struct call_description *call, struct describe_saved *saved, int rc, const int *count,
                             const int *indices, const MPI_Request *requests, const MPI_Status *statuses)
{
    bool known = rc == MPI_SUCCESS || (count && indices && statuses);
    for (int i = 0; known && i < saved->count && i < *count; i++) {
        int index = indices[i];
        if (index >= 0 && index < saved->count && is_complete(rc, &statuses[i]))
            complete_saved(call, saved, index, requests, &statuses[i]);
    }
    if (rc != MPI_SUCCESS) ended(call, saved, requests);
    done(saved);
}
