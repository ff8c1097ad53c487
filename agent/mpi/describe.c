/* describe.c: queries to the library, and descriptions of calls. */
#include "mpi/describe.h"

#include <limits.h>
#include <stdlib.h>

#include "base/agent.h"

uint32_t describe_type_generation = 1;
uint64_t describe_lost_memory;
AGENT_THREAD struct describe_thread describe_thread;

struct call_hooks call_hooks;
bool call_follows_objects;
const struct call_wildcards call_wildcards = {MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ANY_TAG};

int describe_level(int provided)
{
    if (provided == -1 && (!mpi.Query_thread || mpi.Query_thread(&provided) != MPI_SUCCESS)) return -1;
    for (int level = 0; level < 4; level++)
        if (mpi_thread_levels[level] == provided) return level;
    return -1;
}

/* A program that uses only sessions has no MPI_COMM_WORLD. Its rank in the process set mpi://WORLD is the launcher's. */
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
    process->world = HANDLE_NUMBER(COMM_WORLD);
    process->self = HANDLE_NUMBER(COMM_SELF);
    process->rank = process->size = -1;
    if (process->sessions) ask_launcher(process);
    if (process->sessions || !mpi.Comm_rank || !mpi.Comm_size) return;
    if (mpi.Comm_rank(COMM_WORLD, &process->rank) != MPI_SUCCESS) process->rank = -1;
    if (mpi.Comm_size(COMM_WORLD, &process->size) != MPI_SUCCESS) process->size = -1;
    peers_start();
}

/* ---- sizes and statuses ---- */

uint64_t describe_ask_type_size(MPI_Datatype datatype)
{
    if (!datatype || datatype == NULL_DATATYPE) return 0;
    struct describe_thread *thread = &describe_thread;
    uint32_t generation = __atomic_load_n(&describe_type_generation, __ATOMIC_RELAXED);
    uint64_t size = 0;
    MPI_Count large = 0;
    int small = 0;
    if (mpi.Type_size_x && mpi.Type_size_x(datatype, &large) == MPI_SUCCESS && large > 0)
        size = (uint64_t)large;
    else if (mpi.Type_size && mpi.Type_size(datatype, &small) == MPI_SUCCESS && small > 0)
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
    if (mpi.Test_cancelled) mpi.Test_cancelled(status, &flag);
    *cancelled = flag;
    if (mpi.Get_elements_x && mpi.Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0) return (uint64_t)bytes;
    return 0;
}
#endif

/* ---- messages ---- */

void describe_message(const struct call_description *call, bool received, int peer, int tag, uint64_t bytes)
{
    struct call_completion completion = {.comm = call->comm, .bytes = bytes, .request = received ? call->request : 0, .function = call->function,
                                         .peer = peer, .tag = tag, .received = received, .world = peers_find(call->comm, false, peers_epoch(call->comm), peer)};
    call_hooks.completed(call, &completion);
}

/* ---- RMA ---- */

void describe_rma(struct call_description *call, int64_t give, MPI_Datatype given, int64_t get, MPI_Datatype got, int target, MPI_Win win)
{
    call->comm = HANDLE_NUMBER(win);
    call->peer = target;
    if (target == MPI_PROC_NULL) return;
    call->operations = 1;
    call->gave = describe_bytes(give, given);
    call->got = describe_bytes(get, got);
}

void describe_moved(const struct call_description *call)
{
    if (!call->completions || !call->operations) return;
    struct call_completion completion = {.comm = call->comm, .bytes = call->gave, .function = call->function, .peer = call->peer, .tag = CALL_NONE,
                                         .world = peers_find(call->comm, true, peers_epoch(call->comm), call->peer)};
    if (call->gave) call_hooks.completed(call, &completion);
    completion.received = true;
    completion.bytes = call->got;
    if (call->got) call_hooks.completed(call, &completion);
}

/* ---- objects ---- */

static void created(enum call_object kind, uint64_t handle, int function, MPI_Comm parent, const char *name)
{
    uint64_t from = parent == NULL_COMM ? 0 : HANDLE_NUMBER(parent);
    struct call_creation how = {function, {.number = from}, name, 0};
    call_hooks.object_created(kind, (union mpi_handle){.number = handle}, &how);
}

static void named(enum call_object kind, uint64_t handle, const char *name)
{
    if (call_follows_objects) call_hooks.object_named(kind, (union mpi_handle){.number = handle}, name);
}

static void freeing(enum call_object kind, uint64_t handle)
{
    peers_freeing(handle);
    if (call_follows_objects) call_hooks.object_freeing(kind, (union mpi_handle){.number = handle});
}

void describe_comm_created(int function, const MPI_Comm *comm, MPI_Comm parent)
{
    if (!call_follows_objects || *comm == NULL_COMM) return;
    created(CALL_COMM, HANDLE_NUMBER(*comm), function, parent, NULL);
}

void describe_comm_idup(int function, MPI_Comm *comm, MPI_Comm parent, const MPI_Request *request)
{
    struct request made;
    if (!call_follows_objects || *request == NULL_REQUEST) return;
    if (!requests_take(HANDLE_NUMBER(*request), UINT64_MAX, &made)) /* not described: no observer counts it */
        made = (struct request){.handle = HANDLE_NUMBER(*request), .function = function};
    made.kind = REQUEST_COMM;
    made.comm = HANDLE_NUMBER(parent);
    made.newcomm = comm;
    if (requests_add(&made)) call_hooks.pending(1);
}

void describe_comm_named(MPI_Comm comm, const char *name)
{
    named(CALL_COMM, HANDLE_NUMBER(comm), name);
}

void describe_comm_freeing(const MPI_Comm *comm)
{
    if (comm && *comm != NULL_COMM) freeing(CALL_COMM, HANDLE_NUMBER(*comm));
}

void describe_win_created(int function, const MPI_Win *win, MPI_Comm parent)
{
    if (!call_follows_objects || *win == NULL_WIN) return;
    created(CALL_WIN, HANDLE_NUMBER(*win), function, parent, NULL);
}

void describe_win_named(MPI_Win win, const char *name)
{
    named(CALL_WIN, HANDLE_NUMBER(win), name);
}

void describe_win_freeing(const MPI_Win *win)
{
    if (win && *win != NULL_WIN) freeing(CALL_WIN, HANDLE_NUMBER(*win));
}

void describe_file_opened(int function, const MPI_File *file, MPI_Comm comm, const char *name)
{
    if (call_follows_objects) created(CALL_FILE, HANDLE_NUMBER(*file), function, comm, name);
}

void describe_file_closing(const MPI_File *file)
{
    if (file && *file) freeing(CALL_FILE, HANDLE_NUMBER(*file));
}
