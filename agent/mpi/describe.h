/* describe.h: describes a call from its arguments, independently of the function: peers, tags, messages, bytes,
 * requests, objects. With mpi.h. The wrappers call these functions if a tool wants the description. */
#ifndef MPITX_DESCRIBE_H
#define MPITX_DESCRIBE_H

#include <string.h>

#include "mpi/call.h"
#include "mpi/describe_state.h"
#include "mpi/handles.h"
#include "mpi/peers.h"
#include "mpi/requests.h"
#include "mpi/sizes.h"

#pragma GCC visibility push(hidden)

/* The communicator, window or file of a call. */
static inline void describe_object(struct call_description *call, uint64_t object)
{
    call->comm = object;
    if (!call->asks) call->epoch = epochs_now(object); /* else it is known since before the call */
}

/* The object of a request that was started earlier. It may be freed by now. */
static inline void describe_request_object(struct call_description *call, const struct request *request)
{
    call->comm = request->comm;
    call->epoch = request->epoch;
}

/* ---- sizes: what is not remembered is missing before the call (unsized), and is added when it has succeeded ---- */

uint64_t describe_find_type_size(struct call_description *call, MPI_Datatype datatype);

/* call: NULL for a description that is only used before the call. */
static inline uint64_t describe_bytes(struct call_description *call, int64_t count, MPI_Datatype datatype)
{
    if (count <= 0) return 0;
#if defined(MPICH_LAYOUT)
    /* Predefined types carry their size. */
    if (((unsigned)datatype & 0xff000000u) == 0x4c000000u)
        return (uint64_t)count * (((unsigned)datatype & 0xff00u) >> 8);
#endif
    struct describe_thread *thread = &describe_thread;
    if (thread->type != HANDLE_NUMBER(datatype) || thread->type_generation != epochs_of_types)
        return (uint64_t)count * describe_find_type_size(call, datatype);
    return (uint64_t)count * thread->type_size;
}

/* Whether a datatype is predefined and has no gaps. */
static inline bool describe_plain_type(MPI_Datatype datatype)
{
#if defined(MPICH_LAYOUT)
    return ((unsigned)datatype & 0xff000000u) == 0x4c000000u;
#elif defined(OPEN_MPI)
    for (int i = 0; i < PLAIN_TYPES; i++)
        if (mpi_plain_types[i] == datatype && datatype) return true;
    return false;
#else
    return datatype != NULL_DATATYPE && HANDLE_NUMBER(datatype) < 4096; /* of the standard ABI */
#endif
}

/* The same for a predefined type, whose data are contiguous; 0 for others. */
static inline uint64_t describe_plain(int64_t count, MPI_Datatype datatype)
{
    return describe_plain_type(datatype) ? describe_bytes(NULL, count, datatype) : 0;
}

#define DESCRIBE_UNKNOWN_BYTES UINT64_MAX

uint64_t describe_missing_bytes(int64_t count, MPI_Datatype datatype);

/* The same for a call that has begun, or DESCRIBE_UNKNOWN_BYTES. */
static inline uint64_t describe_begun_bytes(int64_t count, MPI_Datatype datatype)
{
    uint64_t bytes = describe_bytes(NULL, count, datatype);
    return bytes || count <= 0 ? bytes : describe_missing_bytes(count, datatype);
}

/* Before the sizes of a call that succeeded are described again. */
static inline void describe_again(struct call_description *call)
{
    call->unsized = false;
    call->asks = true;
    call->sent_bytes = call->gave = call->got = 0;
}

void describe_unsized(struct call_description *call); /* before the call */
void describe_lost(struct call_description *call);    /* after it */

void describe_type_made(const MPI_Datatype *datatype);
void describe_type_freeing(const MPI_Datatype *datatype);
void describe_group_made(const MPI_Group *group);
void describe_group_freeing(const MPI_Group *group);

/* ---- statuses ---- */

uint64_t describe_ask_status(const MPI_Status *status, bool *cancelled);

static inline uint64_t describe_status(const MPI_Status *status, bool *cancelled)
{
#if defined(OPEN_MPI)
    *cancelled = status->_cancelled != 0;
    return status->_ucount;
#elif defined(MPICH_LAYOUT)
    *cancelled = status->count_hi_and_cancelled & 1;
    return (uint64_t)(uint32_t)status->count_lo | (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#else
    return describe_ask_status(status, cancelled);
#endif
}

static inline uint64_t describe_status_bytes(const MPI_Status *status)
{
    bool cancelled;
    return describe_status(status, &cancelled);
}

/* ---- messages ---- */

/* Reports one message of this call to the layers above (call_hooks.completed). */
void describe_message(const struct call_description *call, bool received, int peer, int tag, uint64_t bytes);

static inline void describe_peer(struct call_description *call, int peer, int tag, MPI_Comm comm)
{
    call->peer = peer;
    call->tag = tag;
    describe_object(call, HANDLE_NUMBER(comm));
}

static inline void describe_send(struct call_description *call, int64_t count, MPI_Datatype datatype, int dest, int tag,
                                 MPI_Comm comm)
{
    describe_peer(call, dest, tag, comm);
    if (dest == MPI_PROC_NULL) return;
    call->sent = 1;
    call->sent_bytes = describe_bytes(call, count, datatype);
}

/* What a call receives that also sends. */
static inline void describe_source(struct call_description *call, int source, int tag)
{
    call->source = source;
    call->source_tag = tag;
}

/* After a call that succeeded. */
static inline void describe_sent(const struct call_description *call)
{
    if (call->completions && call->sent) describe_message(call, false, call->peer, call->tag, call->sent_bytes);
}

/* The bytes of a partitioned receive are kept until it completes. */
static inline void describe_partitions(struct call_description *call, int64_t count, MPI_Datatype datatype, int source,
                                       int tag, MPI_Comm comm)
{
    describe_peer(call, source, tag, comm);
    call->sent_bytes = describe_bytes(call, count, datatype);
}

static inline void describe_received(struct call_description *call, const MPI_Status *status)
{
    bool cancelled;
    uint64_t bytes = describe_status(status, &cancelled);
    if (cancelled || status->MPI_SOURCE == MPI_PROC_NULL) return;
    call->received++;
    call->received_bytes += bytes;
    if (call->completions) describe_message(call, true, status->MPI_SOURCE, status->MPI_TAG, bytes);
}

static inline int describe_receive(int source) { return source == MPI_PROC_NULL ? REQUEST_OTHER : REQUEST_RECEIVE; }

/* Removes from the description of a failed call what its arguments announced. */
static inline void describe_failed(struct call_description *call)
{
    call->sent = call->started = call->operations = 0;
    call->sent_bytes = call->gave = call->got = 0;
}

/* The same for a call that receives messages, or completes requests. */
static inline void describe_receive_failed(struct call_description *call)
{
    describe_failed(call);
    __atomic_fetch_add(&requests_failed, 1, __ATOMIC_RELAXED);
}

/* ---- matched messages: their receive does not name the communicator ---- */

void describe_matched(struct call_description *call, const MPI_Message *message);
void describe_matching(struct call_description *call, const MPI_Message *message);

/* ---- requests ---- */

void describe_started(struct call_description *call, const MPI_Request *request, int kind);
void describe_exchange(struct call_description *call, const MPI_Request *request, int64_t count, MPI_Datatype datatype);
void describe_persistent(struct call_description *call, const MPI_Request *request, int kind);
void describe_partitioned(struct call_description *call, const MPI_Request *request, int partitions, int kind);
void describe_ready(struct call_description *call, MPI_Request request);
void describe_restarted(struct call_description *call, int count, const MPI_Request *requests);
void describe_freeing(struct call_description *call, MPI_Request request, struct request *freed);
void describe_freed(struct call_description *call, int rc, const struct request *freed);
void describe_cancelling(struct call_description *call, MPI_Request request); /* after MPI_Cancel */
/* The status is NULL if the call failed: a request that is now null, or persistent, has completed without data. */
void describe_completed(struct call_description *call, MPI_Request before, MPI_Request after, const MPI_Status *status);

/* A call that the library refuses may have NULL for any argument; the agent must not crash on it. */
static inline MPI_Request describe_request(const MPI_Request *request) { return request ? *request : NULL_REQUEST; }

static inline uint64_t describe_comm_number(const MPI_Comm *comm) { return comm ? HANDLE_NUMBER(*comm) : 0; }
static inline uint64_t describe_win_number(const MPI_Win *win) { return win ? HANDLE_NUMBER(*win) : 0; }
static inline uint64_t describe_file_number(const MPI_File *file) { return file ? HANDLE_NUMBER(*file) : 0; }

/* 0: none. */
static inline uint64_t describe_request_number(MPI_Request request)
{
    return request == NULL_REQUEST ? 0 : HANDLE_NUMBER(request);
}

static inline void describe_requests(struct call_description *call, int count, const MPI_Request *requests)
{
    call->requests = requests;
    call->request_count = count;
    call->made = __atomic_load_n(&requests_made, __ATOMIC_RELAXED);
}

/* The requests of a call before it, and statuses for a call that ignores them. */
enum { DESCRIBE_SAVED = 8 };
struct describe_saved {
    int count; /* also 0 if out of memory */
    MPI_Request *requests;
    void *memory; /* to be freed */
    bool scratch;
    MPI_Request few_requests[DESCRIBE_SAVED];
    MPI_Status few_statuses[DESCRIBE_SAVED];
};

/* Returns the statuses to use: the caller's, the agent's instead of MPI_STATUSES_IGNORE, or NULL if the caller's
 * argument is NULL (single statuses). */
MPI_Status *describe_save(struct describe_saved *saved, int count, const MPI_Request *requests, MPI_Status *statuses);
void describe_completed_any(struct call_description *call, struct describe_saved *saved, int rc, bool done,
                            const int *index, const MPI_Request *requests, const MPI_Status *status);
void describe_completed_all(struct call_description *call, struct describe_saved *saved, int rc, bool done,
                            const MPI_Request *requests, const MPI_Status *statuses);
void describe_completed_some(struct call_description *call, struct describe_saved *saved, int rc, const int *count,
                             const int *indices, const MPI_Request *requests, const MPI_Status *statuses);

/* ---- collectives: bytes that this process gives to and gets from others, according to the arguments ---- */

void describe_collective(struct call_description *call, MPI_Comm comm);
void describe_bcast(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm);
void describe_reduce(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm);
void describe_allreduce(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm);
void describe_exscan(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm);
void describe_reduce_scatter(struct call_description *call, const void *recvcounts, size_t wide, MPI_Datatype datatype,
                             MPI_Comm comm);
void describe_reduce_scatter_block(struct call_description *call, int64_t recvcount, MPI_Datatype datatype,
                                   MPI_Comm comm);
void describe_gather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                     int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void describe_gatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                      const void *recvcounts, size_t wide, MPI_Datatype recvtype, int root, MPI_Comm comm);
void describe_scatter(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype, const void *recvbuf,
                      int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void describe_scatterv(struct call_description *call, const void *sendcounts, size_t wide, MPI_Datatype sendtype,
                       const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void describe_allgather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                        int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void describe_allgatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                         const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm);
void describe_alltoall(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void describe_alltoallv(struct call_description *call, const void *sendbuf, const void *sendcounts,
                        MPI_Datatype sendtype, const void *recvcounts, size_t wide, MPI_Datatype recvtype,
                        MPI_Comm comm);
void describe_alltoallw(struct call_description *call, const void *sendbuf, const void *sendcounts,
                        const MPI_Datatype *sendtypes, const void *recvcounts, size_t wide,
                        const MPI_Datatype *recvtypes, MPI_Comm comm);
void describe_neighbor_allgather(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                 int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void describe_neighbor_allgatherv(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                  const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm);
void describe_neighbor_alltoall(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void describe_neighbor_alltoallv(struct call_description *call, const void *sendcounts, MPI_Datatype sendtype,
                                 const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm);
void describe_neighbor_alltoallw(struct call_description *call, const void *sendcounts, const MPI_Datatype *sendtypes,
                                 const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm);

/* Asks about a communicator that was alive in this epoch, and remembers it; false: the library did not tell. */
bool describe_learn_comm(uint64_t comm, uint32_t epoch, struct sizes_comm *facts);

/* ---- spawned processes ---- */

struct describe_spawn {
    char **commands, ***argvs; /* to pass to the library instead; NULL: what the application passes */
    int32_t job;               /* see struct call_peer */
    uint32_t epoch;            /* of the communicator */
    struct call_spawn how;
    int count; /* of lists */
    char **envs, ***lists;
};

/* Keeps track of the info objects that say where spawned programs are. */
void describe_info_set(MPI_Info info, const char *key, bool set);
void describe_info_dup(MPI_Info info, const MPI_Info *copy);
void describe_info_freeing(const MPI_Info *info);

/* Before the call, on all its ranks. argvs: NULL, or count lists. */
void describe_spawning(struct describe_spawn *spawn, int root, MPI_Comm comm, int count, char **commands, char ***argvs,
                       const int *most, const MPI_Info *infos);
void describe_spawned(struct describe_spawn *spawn, int function, int rc, int root, MPI_Comm comm,
                      const MPI_Comm *children);

/* ---- RMA, files ---- */

void describe_rma(struct call_description *call, int64_t give, MPI_Datatype given, int64_t get, MPI_Datatype got,
                  int target, MPI_Win win);
void describe_moved(const struct call_description *call);

static inline void describe_file(struct call_description *call, MPI_File file)
{
    describe_object(call, HANDLE_NUMBER(file));
}

/* ---- objects, for the hooks of call.h ---- */

void describe_comm_created(int function, const MPI_Comm *comm, MPI_Comm parent);
void describe_comm_idup(int function, MPI_Comm *comm, MPI_Comm parent, const MPI_Request *request);
void describe_comm_named(MPI_Comm comm, const char *name);
void describe_comm_freeing(const MPI_Comm *comm);
void describe_win_created(int function, const MPI_Win *win, MPI_Comm parent);
void describe_win_named(MPI_Win win, const char *name);
void describe_win_freeing(const MPI_Win *win);
void describe_file_opened(int function, const MPI_File *file, MPI_Comm comm, const char *name);
void describe_file_closing(const MPI_File *file);

/* After the call that frees it. */
static inline void describe_object_freed(uint64_t object) { if (object) epochs_freed(object); }

static inline MPI_Comm describe_comm_of(uint64_t handle)
{
    union mpi_handle h = {.number = handle};
    MPI_Comm comm;
    memcpy(&comm, &h, sizeof comm);
    return comm;
}

/* MPI_THREAD_… as 0 to 3; -1 asks the library, after a call that initialized it. */
int describe_level(int provided);

#pragma GCC visibility pop

#endif
