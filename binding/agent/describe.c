#include "describe.h"

#include <limits.h>
#include <stdlib.h>

#if defined(OPEN_MPI)
struct describe_constants describe_constants;
#endif
uint32_t describe_type_generation = 1;

const char chain_family[] = FAMILY;

/* The library's own functions, found once. */
static struct {
    int (*Type_size)(MPI_Datatype, int *);
    int (*Type_size_x)(MPI_Datatype, MPI_Count *);
    int (*Comm_rank)(MPI_Comm, int *);
    int (*Comm_size)(MPI_Comm, int *);
    int (*Comm_remote_size)(MPI_Comm, int *);
    int (*Comm_test_inter)(MPI_Comm, int *);
    int (*Topo_test)(MPI_Comm, int *);
    int (*Cartdim_get)(MPI_Comm, int *);
    int (*Graph_neighbors_count)(MPI_Comm, int, int *);
    int (*Dist_graph_neighbors_count)(MPI_Comm, int *, int *, int *);
    int (*Query_thread)(int *);
    int (*Initialized)(int *);
    int (*Get_elements_x)(const MPI_Status *, MPI_Datatype, MPI_Count *);
    int (*Test_cancelled)(const MPI_Status *, int *);
} lib;


void describe_start(void *(*find)(const char *symbol))
{
#define FIND(name) *(void **)&lib.name = chain_library_function("MPI_" #name)
    FIND(Type_size);
    FIND(Type_size_x);
    FIND(Comm_rank);
    FIND(Comm_size);
    FIND(Comm_remote_size);
    FIND(Comm_test_inter);
    FIND(Topo_test);
    FIND(Cartdim_get);
    FIND(Graph_neighbors_count);
    FIND(Dist_graph_neighbors_count);
    FIND(Query_thread);
    FIND(Initialized);
    FIND(Get_elements_x);
    FIND(Test_cancelled);
#undef FIND
#if defined(OPEN_MPI)
    describe_constants.world = find("ompi_mpi_comm_world");
    describe_constants.self = find("ompi_mpi_comm_self");
    describe_constants.null_comm = find("ompi_mpi_comm_null");
    describe_constants.null_request = find("ompi_request_null");
    describe_constants.null_datatype = find("ompi_mpi_datatype_null");
    describe_constants.null_win = find("ompi_mpi_win_null");
#else
    (void)find;
#endif
}

int describe_level(int provided)
{
    if (provided == -1 && (!lib.Query_thread || lib.Query_thread(&provided) != MPI_SUCCESS)) return -1;
    if (provided == MPI_THREAD_SINGLE) return 0;
    if (provided == MPI_THREAD_FUNNELED) return 1;
    if (provided == MPI_THREAD_SERIALIZED) return 2;
    return provided == MPI_THREAD_MULTIPLE ? 3 : -1;
}

/* A program with sessions alone has no world; its rank in the process set mpi://WORLD is the launcher's. */
static void ask_launcher(struct agent_process *process)
{
#ifdef OPEN_MPI
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");
#else
    const char *rank = getenv("PMI_RANK"), *size = getenv("PMI_SIZE");
#endif
    if (!rank) rank = getenv("PMIX_RANK");
    char *end;
    long number = rank ? strtol(rank, &end, 10) : -1;
    if (!rank || end == rank || *end || number < 0 || number > INT_MAX) return;
    process->rank = (int)number;
    number = size ? strtol(size, &end, 10) : 0;
    if (size && end != size && !*end && number > process->rank && number <= INT_MAX) process->size = (int)number;
}

void describe_process(void)
{
    struct agent_process *process = &agent_process;
    process->world.number = HANDLE_NUMBER(COMM_WORLD);
    process->self.number = HANDLE_NUMBER(COMM_SELF);
    process->rank = process->size = -1;
    if (process->sessions) ask_launcher(process);
    if (process->sessions || !lib.Comm_rank || !lib.Comm_size) return;
    if (lib.Comm_rank(COMM_WORLD, &process->rank) != MPI_SUCCESS) process->rank = -1;
    if (lib.Comm_size(COMM_WORLD, &process->size) != MPI_SUCCESS) process->size = -1;
}

/* ---- sizes and statuses ---- */

uint64_t describe_ask_type_size(MPI_Datatype datatype)
{
    if (!datatype || datatype == NULL_DATATYPE) return 0;
    struct chain_thread *thread = &chain_thread;
    uint32_t generation = __atomic_load_n(&describe_type_generation, __ATOMIC_RELAXED);
    uint64_t size = 0;
    MPI_Count large = 0;
    int small = 0;
    if (lib.Type_size_x && lib.Type_size_x(datatype, &large) == MPI_SUCCESS && large > 0)
        size = (uint64_t)large;
    else if (lib.Type_size && lib.Type_size(datatype, &small) == MPI_SUCCESS && small > 0)
        size = (uint64_t)small;
    thread->type = HANDLE_NUMBER(datatype);
    thread->type_size = size;
    thread->type_generation = generation;
    return size;
}

#if !defined(OPEN_MPI) && !defined(MPICH_LAYOUT)
uint64_t describe_ask_status(const MPI_Status *status, bool *cancelled)
{
    MPI_Count bytes = 0;
    int flag = 0;
    if (lib.Test_cancelled) lib.Test_cancelled(status, &flag);
    *cancelled = flag;
    if (lib.Get_elements_x && lib.Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0) return (uint64_t)bytes;
    return 0;
}
#endif

/* ---- requests ---- */

void describe_started(struct chain_entry *entry, const MPI_Request *request, int kind)
{
    struct chain_call *call = CALL;
    call->requests = request;
    call->request_count = 1;
    if (*request == NULL_REQUEST) return;
    call->started++;
    if (!chain_tracks) return;
    struct request made = {.handle = HANDLE_NUMBER(*request), .comm = call->comm, .bytes = call->sent_bytes,
                           .function = call->function, .peer = call->peer, .tag = call->tag, .kind = (uint8_t)kind, .active = 1};
    if (!requests_add(&made)) call->started--; /* its end will not be seen either */
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
        call->started++;
        if (request.kind == REQUEST_SEND) {
            call->sent++;
            call->sent_bytes += request.bytes;
        } else if (request.kind == REQUEST_COLLECTIVE) {
            call->collectives++;
            call->gave += request.bytes;
            call->got += request.got;
        }
    }
}

void describe_freed(struct chain_entry *entry, MPI_Request before)
{
    struct request request;
    if (before == NULL_REQUEST || !requests_take(HANDLE_NUMBER(before), &request)) return;
    CALL->completed += request.active;
    if (request.newcomm) chain_pending_objects(-1);
}

static void tell(struct chain_entry *entry, const struct request *request, const MPI_Status *status, bool received, bool cancelled,
                 uint64_t bytes)
{
    struct chain_completion completion = {.request = request->handle, .function = request->function, .peer = request->peer,
                                          .tag = request->tag, .received = received, .cancelled = cancelled,
                                          .comm = request->comm, .bytes = bytes};
    if (received) {
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
        request.active = 1;
    } else if (!requests_take(HANDLE_NUMBER(before), &request)) {
        return;
    }
    call->completed += request.active;
    bool cancelled = false, received = false;
    uint64_t bytes = request.bytes;
    if (request.kind == REQUEST_RECEIVE || request.kind == REQUEST_PARTITIONED_RECEIVE) {
        uint64_t known = describe_status(status, &cancelled);
        if (request.kind == REQUEST_RECEIVE) bytes = known;
        received = !cancelled && status->MPI_SOURCE != MPI_PROC_NULL;
        if (received) {
            call->received++;
            call->received_bytes += bytes;
        }
    }
    if (request.newcomm) {
        chain_pending_objects(-1);
        union chain_handle comm = {.number = HANDLE_NUMBER(*(MPI_Comm *)request.newcomm)};
        if (chain_follows_objects && *(MPI_Comm *)request.newcomm != NULL_COMM)
            agent_comm_created(comm, chain_functions[request.function].name);
    }
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

static void done(struct describe_saved *saved)
{
    free(saved->memory);
    if (saved->scratch) chain_thread.scratch_used = 0;
}

void describe_completed_any(struct chain_entry *entry, struct describe_saved *saved, bool completed, const int *index,
                            const MPI_Request *requests, const MPI_Status *status)
{
    if (completed && *index >= 0 && *index < saved->count)
        describe_completed(entry, saved->requests[*index], requests[*index], status);
    done(saved);
}

/* After an error, the statuses say which requests are complete. */
static bool settled(int rc, const MPI_Status *status)
{
    return rc == MPI_SUCCESS || (status != MPI_STATUS_IGNORE && status->MPI_ERROR == MPI_SUCCESS);
}

void describe_completed_all(struct chain_entry *entry, struct describe_saved *saved, int rc, bool completed,
                            const MPI_Request *requests, const MPI_Status *statuses)
{
    for (int i = 0; i < saved->count && (completed || rc != MPI_SUCCESS); i++)
        if (settled(rc, &statuses[i])) describe_completed(entry, saved->requests[i], requests[i], &statuses[i]);
    done(saved);
}

void describe_completed_some(struct chain_entry *entry, struct describe_saved *saved, int rc, const int *count,
                             const int *indices, const MPI_Request *requests, const MPI_Status *statuses)
{
    for (int i = 0; i < saved->count && i < *count; i++) {
        int index = indices[i];
        if (index >= 0 && index < saved->count && settled(rc, &statuses[i]))
            describe_completed(entry, saved->requests[index], requests[index], &statuses[i]);
    }
    done(saved);
}

/* ---- collectives ---- */

enum place { MEMBER, ROOT, OUTSIDE, LEAF }; /* LEAF: sends to a root in the other group */

struct group {
    int rank, size; /* size: of the group that data go to or come from */
    bool inter;
};

static struct group group_of(MPI_Comm comm)
{
    struct group group = {0, 0, false};
    int inter = 0;
    if (comm == NULL_COMM || !lib.Comm_size) return group;
    lib.Comm_test_inter(comm, &inter);
    group.inter = inter;
    lib.Comm_rank(comm, &group.rank);
    if (inter)
        lib.Comm_remote_size(comm, &group.size);
    else
        lib.Comm_size(comm, &group.size);
    return group;
}

static enum place place_in(struct group group, int root)
{
    if (!group.inter) return group.rank == root ? ROOT : MEMBER;
    if (root == MPI_ROOT) return ROOT;
    return root == MPI_PROC_NULL ? OUTSIDE : LEAF;
}

void describe_collective(struct chain_entry *entry, MPI_Comm comm)
{
    CALL->comm = HANDLE_NUMBER(comm);
    CALL->collectives = 1;
}

static struct group rooted(struct chain_entry *entry, int root, MPI_Comm comm)
{
    describe_collective(entry, comm);
    CALL->peer = root;
    if (comm == COMM_WORLD && root >= 0) CALL->world_peer = root;
    return group_of(comm);
}

static int64_t count_at(const void *counts, size_t wide, int i)
{
    return wide == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

static int64_t sum(const void *counts, size_t wide, int n)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += count_at(counts, wide, i);
    return total;
}

static uint64_t sum_types(const void *counts, size_t wide, const MPI_Datatype *types, int n)
{
    uint64_t total = 0;
    for (int i = 0; i < n; i++) total += describe_bytes(count_at(counts, wide, i), types[i]);
    return total;
}

void describe_bcast(struct chain_entry *entry, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    enum place place = place_in(rooted(entry, root, comm), root);
    if (place == OUTSIDE) return;
    *(place == ROOT ? &CALL->gave : &CALL->got) = describe_bytes(count, datatype);
}

void describe_reduce(struct chain_entry *entry, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct group group = rooted(entry, root, comm);
    enum place place = place_in(group, root);
    if (place == OUTSIDE) return;
    uint64_t bytes = describe_bytes(count, datatype);
    if (place == ROOT) CALL->got = bytes;
    if (place != ROOT || !group.inter) CALL->gave = bytes;
}

void describe_allreduce(struct chain_entry *entry, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    CALL->gave = CALL->got = describe_bytes(count, datatype);
}

void describe_reduce_scatter(struct chain_entry *entry, const void *recvcounts, size_t wide, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    struct group group = group_of(comm);
    int size = group.size;
    if (group.inter) lib.Comm_size(comm, &size);
    if (size <= group.rank) return;
    CALL->gave = describe_bytes(sum(recvcounts, wide, size), datatype);
    CALL->got = describe_bytes(count_at(recvcounts, wide, group.rank), datatype);
}

void describe_reduce_scatter_block(struct chain_entry *entry, int64_t recvcount, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    int size = 0;
    if (comm == NULL_COMM || !lib.Comm_size) return;
    lib.Comm_size(comm, &size);
    CALL->got = describe_bytes(recvcount, datatype);
    CALL->gave = CALL->got * (uint64_t)size;
}

void describe_gather(struct chain_entry *entry, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                     int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(entry, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) CALL->got = describe_bytes(recvcount, recvtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        CALL->gave = describe_bytes(sendcount, sendtype);
}

void describe_gatherv(struct chain_entry *entry, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                      const void *recvcounts, size_t wide, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(entry, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) CALL->got = describe_bytes(sum(recvcounts, wide, group.size), recvtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        CALL->gave = describe_bytes(sendcount, sendtype);
}

void describe_scatter(struct chain_entry *entry, int64_t sendcount, MPI_Datatype sendtype, const void *recvbuf,
                      int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(entry, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) CALL->gave = describe_bytes(sendcount, sendtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        CALL->got = describe_bytes(recvcount, recvtype);
}

void describe_scatterv(struct chain_entry *entry, const void *sendcounts, size_t wide, MPI_Datatype sendtype,
                       const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(entry, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) CALL->gave = describe_bytes(sum(sendcounts, wide, group.size), sendtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        CALL->got = describe_bytes(recvcount, recvtype);
}

void describe_allgather(struct chain_entry *entry, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                        int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    uint64_t one = describe_bytes(recvcount, recvtype);
    CALL->got = one * (uint64_t)group_of(comm).size;
    CALL->gave = sendbuf == MPI_IN_PLACE ? one : describe_bytes(sendcount, sendtype);
}

void describe_allgatherv(struct chain_entry *entry, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                         const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    struct group group = group_of(comm);
    CALL->got = describe_bytes(sum(recvcounts, wide, group.size), recvtype);
    if (sendbuf != MPI_IN_PLACE)
        CALL->gave = describe_bytes(sendcount, sendtype);
    else if (group.rank < group.size)
        CALL->gave = describe_bytes(count_at(recvcounts, wide, group.rank), recvtype);
}

void describe_alltoall(struct chain_entry *entry, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    uint64_t size = (uint64_t)group_of(comm).size;
    CALL->got = describe_bytes(recvcount, recvtype) * size;
    CALL->gave = sendbuf == MPI_IN_PLACE ? CALL->got : describe_bytes(sendcount, sendtype) * size;
}

void describe_alltoallv(struct chain_entry *entry, const void *sendbuf, const void *sendcounts, MPI_Datatype sendtype,
                        const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(entry, comm);
    int size = group_of(comm).size;
    CALL->got = describe_bytes(sum(recvcounts, wide, size), recvtype);
    CALL->gave = sendbuf == MPI_IN_PLACE ? CALL->got : describe_bytes(sum(sendcounts, wide, size), sendtype);
}

void describe_alltoallw(struct chain_entry *entry, const void *sendbuf, const void *sendcounts, const MPI_Datatype *sendtypes,
                        const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    describe_collective(entry, comm);
    int size = group_of(comm).size;
    CALL->got = sum_types(recvcounts, wide, recvtypes, size);
    CALL->gave = sendbuf == MPI_IN_PLACE ? CALL->got : sum_types(sendcounts, wide, sendtypes, size);
}

/* How many neighbours send to us (in) and get from us (out). */
static void neighbors(MPI_Comm comm, int *in, int *out)
{
    int topology = MPI_UNDEFINED, weighted, rank;
    *in = *out = 0;
    if (comm == NULL_COMM || !lib.Topo_test || lib.Topo_test(comm, &topology) != MPI_SUCCESS) return;
    if (topology == MPI_CART) {
        lib.Cartdim_get(comm, in);
        *in = *out = 2 * *in;
    } else if (topology == MPI_GRAPH) {
        lib.Comm_rank(comm, &rank);
        lib.Graph_neighbors_count(comm, rank, in);
        *out = *in;
    } else if (topology == MPI_DIST_GRAPH) {
        lib.Dist_graph_neighbors_count(comm, in, out, &weighted);
    }
}

void describe_neighbor_allgather(struct chain_entry *entry, int64_t sendcount, MPI_Datatype sendtype,
                                 int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int in, out;
    describe_collective(entry, comm);
    neighbors(comm, &in, &out);
    CALL->gave = describe_bytes(sendcount, sendtype);
    CALL->got = describe_bytes(recvcount, recvtype) * (uint64_t)in;
}

void describe_neighbor_allgatherv(struct chain_entry *entry, int64_t sendcount, MPI_Datatype sendtype,
                                  const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    int in, out;
    describe_collective(entry, comm);
    neighbors(comm, &in, &out);
    CALL->gave = describe_bytes(sendcount, sendtype);
    CALL->got = describe_bytes(sum(recvcounts, wide, in), recvtype);
}

void describe_neighbor_alltoall(struct chain_entry *entry, int64_t sendcount, MPI_Datatype sendtype,
                                int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int in, out;
    describe_collective(entry, comm);
    neighbors(comm, &in, &out);
    CALL->gave = describe_bytes(sendcount, sendtype) * (uint64_t)out;
    CALL->got = describe_bytes(recvcount, recvtype) * (uint64_t)in;
}

void describe_neighbor_alltoallv(struct chain_entry *entry, const void *sendcounts, MPI_Datatype sendtype,
                                 const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    int in, out;
    describe_collective(entry, comm);
    neighbors(comm, &in, &out);
    CALL->gave = describe_bytes(sum(sendcounts, wide, out), sendtype);
    CALL->got = describe_bytes(sum(recvcounts, wide, in), recvtype);
}

void describe_neighbor_alltoallw(struct chain_entry *entry, const void *sendcounts, const MPI_Datatype *sendtypes,
                                 const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    int in, out;
    describe_collective(entry, comm);
    neighbors(comm, &in, &out);
    CALL->gave = sum_types(sendcounts, wide, sendtypes, out);
    CALL->got = sum_types(recvcounts, wide, recvtypes, in);
}

/* ---- RMA ---- */

void describe_rma(struct chain_entry *entry, int64_t give, MPI_Datatype given, int64_t get, MPI_Datatype got, int target, MPI_Win win)
{
    CALL->comm = HANDLE_NUMBER(win);
    CALL->peer = target;
    if (target == MPI_PROC_NULL) return;
    CALL->gave = describe_bytes(give, given);
    CALL->got = describe_bytes(get, got);
}

/* ---- objects ---- */

void describe_comm_created(struct chain_entry *entry, const MPI_Comm *comm)
{
    if (!chain_follows_objects || *comm == NULL_COMM) return;
    agent_comm_created((union chain_handle){.number = HANDLE_NUMBER(*comm)}, chain_functions[CALL->function].name);
}

void describe_comm_idup(struct chain_entry *entry, MPI_Comm *comm, const MPI_Request *request)
{
    struct request made;
    if (!chain_follows_objects || *request == NULL_REQUEST) return;
    if (!requests_take(HANDLE_NUMBER(*request), &made)) /* not described: nobody counts it */
        made = (struct request){.handle = HANDLE_NUMBER(*request), .function = CALL->function, .kind = REQUEST_OTHER};
    made.newcomm = comm;
    if (requests_add(&made)) chain_pending_objects(1);
}

void describe_comm_named(MPI_Comm comm, const char *name)
{
    if (chain_follows_objects) agent_comm_named((union chain_handle){.number = HANDLE_NUMBER(comm)}, name);
}

void describe_comm_freeing(const MPI_Comm *comm)
{
    if (chain_follows_objects && comm && *comm != NULL_COMM)
        agent_comm_freeing((union chain_handle){.number = HANDLE_NUMBER(*comm)});
}

void describe_win_created(struct chain_entry *entry, const MPI_Win *win)
{
    if (!chain_follows_objects || *win == NULL_WIN) return;
    agent_win_created((union chain_handle){.number = HANDLE_NUMBER(*win)}, chain_functions[CALL->function].name);
}

void describe_win_named(MPI_Win win, const char *name)
{
    if (chain_follows_objects) agent_win_named((union chain_handle){.number = HANDLE_NUMBER(win)}, name);
}

void describe_win_freeing(const MPI_Win *win)
{
    if (chain_follows_objects && win && *win != NULL_WIN)
        agent_win_freeing((union chain_handle){.number = HANDLE_NUMBER(*win)});
}
