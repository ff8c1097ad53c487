/* describe_requests.c: requests that are started, kept, completed. */
#include "mpi/describe_internal.h"

#include <stdlib.h>

#include "tools/tally/tally.h"

static void start(struct chain_entry *entry, const MPI_Request *request, int kind, uint64_t bytes, int peer, int tag)
{
    struct chain_call *call = CALL;
    call->requests = request;
    call->request_count = 1;
    if (*request == NULL_REQUEST) return;
    call->started++;
    if (!chain_tracks) return;
    struct request made = {.handle = HANDLE_NUMBER(*request), .comm = call->comm, .bytes = bytes, .function = call->function,
                           .peer = peer, .tag = tag, .kind = (uint8_t)kind, .active = 1};
    if (!requests_add(&made)) call->started--; /* its end will not be seen either */
}

void describe_started(struct chain_entry *entry, const MPI_Request *request, int kind)
{
    start(entry, request, kind, CALL->sent_bytes, CALL->peer, CALL->tag);
}

void describe_exchange(struct chain_entry *entry, const MPI_Request *request, int64_t count, MPI_Datatype datatype, int source, int tag)
{
    int kind = source == MPI_PROC_NULL ? REQUEST_OTHER : REQUEST_EXCHANGE;
    start(entry, request, kind, describe_bytes(count, datatype), source, tag);
}

/* What one start gives and gets moves to the request. */
void describe_persistent(struct chain_entry *entry, const MPI_Request *request, int kind)
{
    struct chain_call *call = CALL;
    struct request made = {.handle = HANDLE_NUMBER(*request), .comm = call->comm, .bytes = call->sent_bytes,
                           .function = call->function, .peer = call->peer, .tag = call->tag, .kind = (uint8_t)kind, .persistent = 1};
    if (kind == REQUEST_COLLECTIVE) {
        made.bytes = call->gave;
        made.got = call->got;
    } else if (kind == REQUEST_SEND && !call->sent) {
        made.kind = REQUEST_OTHER; /* to MPI_PROC_NULL */
    }
    describe_failed(entry);
    call->requests = request;
    call->request_count = 1;
    requests_add(&made);
}

void describe_restarted(struct chain_entry *entry, int count, const MPI_Request *requests)
{
    struct chain_call *call = CALL;
    for (int i = 0; i < count; i++) {
        struct request request;
        if (!requests_set_active(HANDLE_NUMBER(requests[i]), true, &request)) continue;
        call->started += !request.active; /* else its end was not seen: MPICH's MPI_Waitany passes over those with MPI_PROC_NULL */
        if (request.kind == REQUEST_SEND) {
            call->sent++;
            call->sent_bytes += request.bytes;
        } else if (request.kind == REQUEST_COLLECTIVE) {
            call->operations++;
            call->gave += request.bytes;
            call->got += request.got;
        }
    }
}

/* Before the library has the handle back: a request of another thread that gets it would replace a persistent one. */
void describe_freeing(struct chain_entry *entry, MPI_Request request, struct request *freed)
{
    if (request == NULL_REQUEST || !requests_take(HANDLE_NUMBER(request), CALL->made, freed)) freed->handle = 0;
}

void describe_freed(struct chain_entry *entry, int rc, const struct request *freed)
{
    if (freed->handle == 0) return;
    if (rc != MPI_SUCCESS) {
        requests_add(freed);
        return;
    }
    CALL->completed += freed->active;
    if (freed->newcomm) chain_pending_objects(-1);
}

static void tell(struct chain_entry *entry, const struct request *request, const MPI_Status *status, bool received, bool cancelled,
                 uint64_t bytes)
{
    struct chain_completion completion = {.request = request->handle, .function = request->function, .peer = request->peer,
                                          .tag = request->tag, .received = received, .cancelled = cancelled,
                                          .comm = request->comm, .bytes = bytes};
    if (received && status) {
        completion.peer = status->MPI_SOURCE;
        completion.tag = status->MPI_TAG;
    }
    chain_tell_completed(CALL, &completion);
}

void describe_completed(struct chain_entry *entry, MPI_Request before, MPI_Request after, const MPI_Status *status)
{
    struct chain_call *call = CALL;
    struct request request;
    if (before == NULL_REQUEST) return;
    if (after == before) {
        if (!requests_set_active(HANDLE_NUMBER(before), false, &request)) return;
    } else if (!requests_take(HANDLE_NUMBER(before), call->made, &request)) {
        return;
    }
    call->completed += request.active;
    bool cancelled = false, received = false;
    bool exchanges = request.kind == REQUEST_EXCHANGE;
    bool receives = request.kind == REQUEST_RECEIVE || request.kind == REQUEST_PARTITIONED_RECEIVE || exchanges;
    uint64_t bytes = receives && !status ? 0 : request.bytes;
    if (request.kind == REQUEST_FILE_READ) {
        bytes = status ? describe_status_bytes(status) : 0;
        call->read += bytes;
    } else if (exchanges && status && !describe_library.fills_exchanges) {
        received = true;
        call->received++;
        call->received_bytes += bytes;
        tally_estimate(call->function);
    } else if (receives && status) {
        uint64_t known = describe_status(status, &cancelled);
        if (request.kind == REQUEST_RECEIVE || (exchanges && known < bytes)) bytes = known;
        received = !cancelled && status->MPI_SOURCE != MPI_PROC_NULL;
        if (received) {
            call->received++;
            call->received_bytes += bytes;
        }
    }
    if (request.newcomm) {
        chain_pending_objects(-1);
        union chain_handle comm = {.number = HANDLE_NUMBER(*(MPI_Comm *)request.newcomm)};
        if (status && chain_follows_objects && *(MPI_Comm *)request.newcomm != NULL_COMM)
            agent_comm_created(comm, chain_functions[request.function].name);
    }
    if (exchanges && !describe_library.fills_exchanges) status = NULL;
    if (chain_complete_masks[call->function]) tell(entry, &request, status, received, cancelled, bytes);
}

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
        struct chain_thread *thread = &chain_thread;
        void *memory;
        if (thread->scratch_used) {
            memory = saved->memory = malloc(space);
        } else {
            if (thread->scratch_size < space) {
                free(thread->scratch);
                thread->scratch = malloc(space);
                thread->scratch_size = thread->scratch ? space : 0;
            }
            memory = thread->scratch;
            saved->scratch = memory != NULL;
            thread->scratch_used = saved->scratch;
        }
        if (!memory) {
            __atomic_fetch_add(&chain_lost.memory, 1, __ATOMIC_RELAXED);
            return statuses;
        }
        saved->requests = memory;
        own = (MPI_Status *)(saved->requests + number);
    }
    memcpy(saved->requests, requests, number * sizeof(MPI_Request));
    saved->count = count;
    return statuses == MPI_STATUSES_IGNORE ? own : statuses;
}

/* What else has ended in a call that failed; persistent requests look as before. */
static void ended(struct chain_entry *entry, const struct describe_saved *saved, const MPI_Request *requests)
{
    for (int i = 0; i < saved->count; i++)
        if (requests[i] == NULL_REQUEST) describe_completed(entry, saved->requests[i], requests[i], NULL);
}

static void done(struct describe_saved *saved)
{
    free(saved->memory);
    if (saved->scratch) chain_thread.scratch_used = 0;
}

void describe_completed_any(struct chain_entry *entry, struct describe_saved *saved, int rc, bool completed, const int *index,
                            const MPI_Request *requests, const MPI_Status *status)
{
    if (rc != MPI_SUCCESS)
        ended(entry, saved, requests);
    else if (completed && *index >= 0 && *index < saved->count)
        describe_completed(entry, saved->requests[*index], requests[*index], status);
    done(saved);
}

/* After an error, the statuses say which requests are complete. */
static bool settled(int rc, const MPI_Status *status)
{
    return rc == MPI_SUCCESS || (status != MPI_STATUS_IGNORE && status->MPI_ERROR == MPI_SUCCESS);
}

/* Once. */
static void tell_saved(struct chain_entry *entry, struct describe_saved *saved, int i, const MPI_Request *requests, const MPI_Status *status)
{
    describe_completed(entry, saved->requests[i], requests[i], status);
    saved->requests[i] = NULL_REQUEST;
}

void describe_completed_all(struct chain_entry *entry, struct describe_saved *saved, int rc, bool completed,
                            const MPI_Request *requests, const MPI_Status *statuses)
{
    for (int i = 0; i < saved->count && (completed || rc != MPI_SUCCESS); i++)
        if (settled(rc, &statuses[i])) tell_saved(entry, saved, i, requests, &statuses[i]);
    if (rc != MPI_SUCCESS) ended(entry, saved, requests);
    done(saved);
}

void describe_completed_some(struct chain_entry *entry, struct describe_saved *saved, int rc, const int *count,
                             const int *indices, const MPI_Request *requests, const MPI_Status *statuses)
{
    for (int i = 0; i < saved->count && i < *count; i++) {
        int index = indices[i];
        if (index >= 0 && index < saved->count && settled(rc, &statuses[i])) tell_saved(entry, saved, index, requests, &statuses[i]);
    }
    if (rc != MPI_SUCCESS) ended(entry, saved, requests);
    done(saved);
}
