/* describe.c: queries to the library, and descriptions of calls. */
#include "mpi/describe.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/agent.h"
#include "mpi/ask.h"
#include "mpi/library.h"
#include "mpi/sizes.h"

uint64_t describe_lost_memory, describe_lost_sizes;
AGENT_THREAD struct describe_thread describe_thread;

struct call_hooks call_hooks;
bool call_follows_objects, call_follows_ends;
const struct call_wildcards call_wildcards = {MPI_ANY_SOURCE, MPI_PROC_NULL, MPI_ANY_TAG};

int describe_level(int provided)
{
    if (provided == -1) provided = ask_thread_level();
    for (int level = 0; level < 4; level++)
        if (mpi_thread_levels[level] == provided) return level;
    return -1;
}

/* The datatypes whose handles do not carry their size. Others become known when a call with them succeeds. */
static void learn_predefined(void)
{
#if defined(OPEN_MPI)
    static const char *const names[] = {
        "char", "signed_char", "unsigned_char", "byte", "packed", "short", "unsigned_short", "int", "unsigned", "long",
            "unsigned_long", "long_long_int",
        "unsigned_long_long", "float", "double", "long_double", "c_bool", "cxx_bool", "wchar", "int8_t", "uint8_t",
        "int16_t", "uint16_t", "int32_t", "uint32_t",
        "int64_t", "uint64_t", "aint", "offset", "count", "c_float_complex", "c_complex", "c_double_complex",
        "c_long_double_complex", "float_int", "double_int",
        "long_int", "2int", "short_int", "longdbl_int", "character", "logical", "logical1", "logical2", "logical4",
        "logical8", "integer", "integer1", "integer2", "integer4", "integer8", "integer16", "real",
        "real4", "real8", "real16", "dblprec", "cplex", "complex8", "complex16", "complex32", "dblcplex", "ldblcplex",
        "2cplex", "2dblcplex", "2real", "2dblprec", "2integer"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char symbol[64];
        snprintf(symbol, sizeof symbol, "ompi_mpi_%s", names[i]);
        MPI_Datatype datatype = library_datum(symbol);
        if (datatype) describe_type_made(&datatype);
    }
#elif !defined(MPICH_LAYOUT)
    const MPI_Datatype datatypes[] = {MPI_CHAR, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_BYTE, MPI_PACKED, MPI_SHORT,
                                      MPI_UNSIGNED_SHORT, MPI_INT, MPI_UNSIGNED, MPI_LONG, MPI_UNSIGNED_LONG,
                                      MPI_LONG_LONG_INT, MPI_UNSIGNED_LONG_LONG, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE,
                                      MPI_C_BOOL, MPI_INT8_T, MPI_UINT8_T, MPI_INT16_T, MPI_UINT16_T, MPI_INT32_T,
                                      MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT};
    for (unsigned i = 0; i < sizeof datatypes / sizeof *datatypes; i++) describe_type_made(&datatypes[i]);
#endif
}

/* A program with only sessions has no MPI_COMM_WORLD. Its rank in the process set mpi://WORLD is the launcher's. */
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
    learn_predefined();
    if (process->sessions) return;
    struct sizes_comm world;
    if (describe_learn_comm(process->world, epochs_now(process->world), &world)) {
        process->rank = world.rank;
        process->size = world.size;
    }
    describe_learn_comm(process->self, epochs_now(process->self), &world);
    peers_start();
}

/* ---- sizes and statuses ---- */

static void remember(MPI_Datatype datatype, uint64_t size, uint32_t generation)
{
    struct describe_thread *thread = &describe_thread;
    thread->type = HANDLE_NUMBER(datatype);
    thread->type_size = size;
    thread->type_generation = generation;
}

void describe_unsized(struct call_description *call)
{
    if (!call->unsized) call->types = __atomic_load_n(&epochs_of_types, __ATOMIC_SEQ_CST);
    call->unsized = true;
}

void describe_lost(struct call_description *call)
{
    call->unsized = true;
    __atomic_fetch_add(&describe_lost_sizes, 1, __ATOMIC_RELAXED);
}

uint64_t describe_find_type_size(struct call_description *call, MPI_Datatype datatype)
{
    uint64_t size = 0;
    if (!datatype || datatype == NULL_DATATYPE) return 0;
    uint32_t generation = __atomic_load_n(&epochs_of_types, __ATOMIC_SEQ_CST);
    if (sizes_find_type(HANDLE_NUMBER(datatype), &size)) {
        remember(datatype, size, generation);
        return size;
    }
    if (!call) return 0;
    if (!call->asks) {
        describe_unsized(call);
        return 0;
    }
    if (!ask_type_size(datatype, call->types, &size)) {
        describe_lost(call);
        return 0;
    }
    sizes_add_type(HANDLE_NUMBER(datatype), size);
    remember(datatype, size, call->types);
    return size;
}

/* Nothing is asked about other types than predefined ones: the call may have got an invalid one. */
uint64_t describe_missing_bytes(int64_t count, MPI_Datatype datatype)
{
    uint64_t size = 0;
    if (sizes_find_type(HANDLE_NUMBER(datatype), &size)) return (uint64_t)count * size;
    uint32_t generation = __atomic_load_n(&epochs_of_types, __ATOMIC_SEQ_CST);
    if (!describe_plain_type(datatype) || !ask_type_size(datatype, generation, &size)) return DESCRIBE_UNKNOWN_BYTES;
    remember(datatype, size, generation);
    return (uint64_t)count * size;
}

/* A datatype that a call has made or committed. */
void describe_type_made(const MPI_Datatype *datatype)
{
    uint64_t size = 0;
    if (*datatype != NULL_DATATYPE &&
        ask_type_size(*datatype, __atomic_load_n(&epochs_of_types, __ATOMIC_SEQ_CST), &size))
        sizes_add_type(HANDLE_NUMBER(*datatype), size);
}

void describe_group_made(const MPI_Group *group)
{
    if (*group != NULL_GROUP) ask_remember_group(HANDLE_NUMBER(*group));
}

void describe_group_freeing(const MPI_Group *group) { if (group) ask_forget_group(HANDLE_NUMBER(*group)); }

void describe_type_freeing(const MPI_Datatype *datatype)
{
    if (!datatype) return;
    sizes_remove_type(HANDLE_NUMBER(*datatype));
    __atomic_fetch_add(&epochs_of_types, 1, __ATOMIC_SEQ_CST);
    ask_settle();
}

#if !defined(OPEN_MPI) && !defined(MPICH_LAYOUT)
uint64_t describe_ask_status(const MPI_Status *status, bool *cancelled)
{
    *cancelled = ask_cancelled(status);
    return ask_received(status);
}
#endif

bool describe_learn_comm(uint64_t comm, uint32_t epoch, struct sizes_comm *facts)
{
    struct ask_comm asked;
    if (!ask_comm(comm, epoch, &asked)) return false;
    *facts = (struct sizes_comm){.comm = comm, .epoch = epoch, .rank = asked.rank, .size = asked.size,
                                 .peers = asked.peers, .inter = asked.inter};
    sizes_add_comm(facts);
    return true;
}

/* ---- messages ---- */

void describe_message(const struct call_description *call, bool received, int peer, int tag, uint64_t bytes)
{
    struct call_completion completion = {.comm = call->comm, .epoch = call->epoch, .bytes = bytes,
                                         .request = received ? call->request : 0, .function = call->function,
                                         .peer = peer, .tag = tag, .received = received,
                                         .world = peers_find(call->comm, false, call->epoch, peer)};
    call_hooks.completed(call, &completion);
}

/* ---- RMA ---- */

void describe_rma(struct call_description *call, int64_t give, MPI_Datatype given, int64_t get, MPI_Datatype got,
                  int target, MPI_Win win)
{
    describe_object(call, HANDLE_NUMBER(win));
    call->peer = target;
    if (target == MPI_PROC_NULL) return;
    call->operations = 1;
    call->gave = describe_bytes(call, give, given);
    call->got = describe_bytes(call, get, got);
}

void describe_moved(const struct call_description *call)
{
    if (!call->completions || !call->operations) return;
    struct call_completion completion = {.comm = call->comm, .epoch = call->epoch, .bytes = call->gave,
                                         .function = call->function, .peer = call->peer, .tag = CALL_NONE,
                                         .world = peers_find(call->comm, true, call->epoch, call->peer)};
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
    peers_freeing(kind, handle);
    if (call_follows_objects) call_hooks.object_freeing(kind, (union mpi_handle){.number = handle});
}

void describe_comm_created(int function, const MPI_Comm *comm, MPI_Comm parent)
{
    struct sizes_comm facts;
    if (!call_follows_objects || *comm == NULL_COMM) return;
    describe_learn_comm(HANDLE_NUMBER(*comm), epochs_now(HANDLE_NUMBER(*comm)), &facts);
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

void describe_comm_named(MPI_Comm comm, const char *name) { named(CALL_COMM, HANDLE_NUMBER(comm), name); }

void describe_comm_freeing(const MPI_Comm *comm)
{
    if (comm && *comm != NULL_COMM) freeing(CALL_COMM, HANDLE_NUMBER(*comm));
}

void describe_win_created(int function, const MPI_Win *win, MPI_Comm parent)
{
    if (!call_follows_objects || *win == NULL_WIN) return;
    created(CALL_WIN, HANDLE_NUMBER(*win), function, parent, NULL);
}

void describe_win_named(MPI_Win win, const char *name) { named(CALL_WIN, HANDLE_NUMBER(win), name); }

void describe_win_freeing(const MPI_Win *win) { if (win && *win != NULL_WIN) freeing(CALL_WIN, HANDLE_NUMBER(*win)); }

void describe_file_opened(int function, const MPI_File *file, MPI_Comm comm, const char *name)
{
    if (call_follows_objects) created(CALL_FILE, HANDLE_NUMBER(*file), function, comm, name);
}

void describe_file_closing(const MPI_File *file) { if (file && *file) freeing(CALL_FILE, HANDLE_NUMBER(*file)); }
