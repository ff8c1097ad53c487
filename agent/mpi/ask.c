#define _GNU_SOURCE
#include "mpi/ask.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/agent.h"
#include "base/clock.h"
#include "mpi/describe_state.h"
#include "mpi/library.h"

enum { WAIT_NS = 50000000, SPINS = 2000 };

/* NULL: the library does not have it. */
static struct {
#define X(name) __typeof__(MPI_##name) *name;
    ASK_ROUTINES(X)
#undef X
} mpi;

bool ask_exchanges_are_filled;
static unsigned asking;               /* threads that ask about an object that the application could free */
static AGENT_THREAD unsigned asks; /* of this thread: it may be asking in a signal handler */
static unsigned stuck; /* threads that do not end asking: they were cancelled, or are not in this child of a fork */

void library_bind(void)
{
#define X(name) mpi.name = (__typeof__(mpi.name))library_function("MPI_" #name);
    ASK_ROUTINES(X)
#undef X
    handles_bind();
#if defined(OPEN_MPI)
    ask_exchanges_are_filled = true;
#elif !defined(MPICH_LAYOUT)
    ask_exchanges_are_filled = library_datum("ompi_mpi_init") != NULL;
#endif
}

#define ASK(name, ...) (mpi.name && mpi.name(__VA_ARGS__) == MPI_SUCCESS)

/* ---- the process ---- */

bool library_is_initialized(void)
{
    int initialized = 0;
    return ASK(Initialized, &initialized) && initialized;
}

int ask_thread_level(void)
{
    int level;
    return ASK(Query_thread, &level) ? level : -1;
}

/* ---- whether an object is alive ---- */

static void begin(void)
{
    asks++;
    __atomic_fetch_add(&asking, 1, __ATOMIC_SEQ_CST);
}

static bool end(bool result)
{
    __atomic_fetch_sub(&asking, 1, __ATOMIC_RELEASE);
    asks--;
    return result;
}

static bool begin_object(uint64_t object, uint32_t epoch)
{
    begin();
    return (object && __atomic_load_n(epochs_place(object), __ATOMIC_SEQ_CST) == epoch) || end(false);
}

static unsigned others(void)
{
    unsigned all = __atomic_load_n(&asking, __ATOMIC_SEQ_CST), not = asks + __atomic_load_n(&stuck, __ATOMIC_RELAXED);
    return all > not ? all - not : 0;
}

/* Asking takes microseconds, unless the thread is preempted. */
void ask_settle(void)
{
    const struct timespec pause = {0, 50000};
    for (int i = 0; i < SPINS; i++)
        if (!others()) return;
    int saved = errno;
    uint64_t start = clock_monotonic();
    /* the C library's nanosleep is a cancellation point */
    while (others() && clock_monotonic() - start < WAIT_NS) syscall(SYS_nanosleep, &pause, NULL);
    __atomic_fetch_add(&stuck, others(), __ATOMIC_RELAXED);
    errno = saved;
}

/* ---- datatypes and statuses ---- */

bool ask_type_size(MPI_Datatype datatype, uint32_t generation, uint64_t *size)
{
    MPI_Count large = -1;
    int small = -1;
    begin();
    if (__atomic_load_n(&epochs_of_types, __ATOMIC_SEQ_CST) != generation) return end(false);
    if (mpi.Type_size_x ? ASK(Type_size_x, datatype, &large) : ASK(Type_size, datatype, &small))
        *size = (uint64_t)(mpi.Type_size_x ? large : small);
    return end(large >= 0 || small >= 0);
}

#if !defined(OPEN_MPI) && !defined(MPICH_LAYOUT) /* in the others the agent reads the status itself */
uint64_t ask_received(const MPI_Status *status)
{
    MPI_Count bytes = 0;
    return ASK(Get_elements_x, status, MPI_BYTE, &bytes) && bytes > 0 ? (uint64_t)bytes : 0;
}

bool ask_cancelled(const MPI_Status *status)
{
    int cancelled = 0;
    return ASK(Test_cancelled, status, &cancelled) && cancelled;
}
#endif

/* ---- communicators and windows ---- */

static MPI_Comm comm_of(uint64_t object)
{
    union mpi_handle handle = {.number = object};
    MPI_Comm comm;
    memcpy(&comm, &handle, sizeof comm);
    return comm;
}

static MPI_Win win_of(uint64_t object)
{
    union mpi_handle handle = {.number = object};
    MPI_Win win;
    memcpy(&win, &handle, sizeof win);
    return win;
}

bool ask_comm(uint64_t object, uint32_t epoch, struct ask_comm *facts)
{
    MPI_Comm comm = comm_of(object);
    int inter = 0, rank = -1, size = 0, peers = 0;
    if (!begin_object(object, epoch)) return false;
    bool known = ASK(Comm_test_inter, comm, &inter) && ASK(Comm_rank, comm, &rank) && ASK(Comm_size, comm, &size) &&
                 (!inter || ASK(Comm_remote_size, comm, &peers));
    *facts = (struct ask_comm){rank, size, inter ? peers : size, inter != 0};
    return end(known);
}

static uint64_t beyond_edges(MPI_Comm comm, int dimensions)
{
    uint64_t absent = 0;
    for (int i = 0; i < dimensions && i < 32; i++) {
        int before = 0, after = 0;
        if (!ASK(Cart_shift, comm, i, 1, &before, &after)) continue;
        if (before == MPI_PROC_NULL) absent |= UINT64_C(1) << (2 * i);
        if (after == MPI_PROC_NULL) absent |= UINT64_C(1) << (2 * i + 1);
    }
    return absent;
}

bool ask_neighbors(uint64_t object, uint32_t epoch, struct ask_neighbors *neighbors)
{
    MPI_Comm comm = comm_of(object);
    int topology = MPI_UNDEFINED, in = 0, out = 0, rank, weighted;
    *neighbors = (struct ask_neighbors){0, 0, 0};
    if (!begin_object(object, epoch)) return false;
    bool known = ASK(Topo_test, comm, &topology);
    if (topology == MPI_CART) {
        known = ASK(Cartdim_get, comm, &in);
        neighbors->absent = beyond_edges(comm, in);
        in = out = 2 * in;
    } else if (topology == MPI_GRAPH) {
        known = ASK(Comm_rank, comm, &rank) && ASK(Graph_neighbors_count, comm, rank, &in);
        out = in;
    } else if (topology == MPI_DIST_GRAPH) {
        known = ASK(Dist_graph_neighbors_count, comm, &in, &out, &weighted);
    }
    neighbors->in = in;
    neighbors->out = out;
    return end(known);
}

static int sources_in_grid(MPI_Comm comm, int *ranks)
{
    int dimensions = 0, count = 0;
    if (!ASK(Cartdim_get, comm, &dimensions) || dimensions > ASK_SOURCES / 2) return -1;
    for (int i = 0; i < dimensions; i++) {
        int both[2];
        if (!ASK(Cart_shift, comm, i, 1, &both[0], &both[1])) return -1;
        for (int k = 0; k < 2; k++)
            if (both[k] != MPI_PROC_NULL) ranks[count++] = both[k];
    }
    return count;
}

static int sources_in_graph(MPI_Comm comm, bool distributed, int *ranks)
{
    int rank, weighted, out = 0, others[ASK_SOURCES], weights[2][ASK_SOURCES], count = -1;
    if (distributed) {
        /* MPICH refuses arrays with fewer elements than neighbors */
        if (!ASK(Dist_graph_neighbors_count, comm, &count, &out, &weighted)) return -1;
        if (count > ASK_SOURCES || out > ASK_SOURCES) return -1;
        return ASK(Dist_graph_neighbors, comm, count, ranks, weights[0], out, others, weights[1]) ? count : -1;
    }
    if (!ASK(Comm_rank, comm, &rank) || !ASK(Graph_neighbors_count, comm, rank, &count) || count > ASK_SOURCES) return -1;
    return ASK(Graph_neighbors, comm, rank, count, ranks) ? count : -1;
}

int ask_sources(uint64_t object, uint32_t epoch, int ranks[ASK_SOURCES])
{
    MPI_Comm comm = comm_of(object);
    int topology = MPI_UNDEFINED, count = -1;
    if (!begin_object(object, epoch)) return -1;
    if (ASK(Topo_test, comm, &topology) && topology == MPI_CART)
        count = sources_in_grid(comm, ranks);
    else if (topology == MPI_GRAPH || topology == MPI_DIST_GRAPH)
        count = sources_in_graph(comm, topology == MPI_DIST_GRAPH, ranks);
    end(true);
    return count;
}

void ask_name(enum call_object kind, uint64_t object, uint32_t epoch, char name[ASK_NAME])
{
    int length = 0;
    name[0] = '\0';
    if (!begin_object(object, epoch)) return;
    bool known = kind == CALL_WIN ? ASK(Win_get_name, win_of(object), name, &length)
                                  : ASK(Comm_get_name, comm_of(object), name, &length);
    name[known && length > 0 && length < ASK_NAME ? length : 0] = '\0';
    end(known);
}

bool ask_group(enum call_object kind, uint64_t object, uint32_t epoch, bool peers, MPI_Group *group)
{
    MPI_Comm comm = comm_of(object);
    int inter = 0;
    if (!begin_object(object, epoch)) return false;
    if (kind == CALL_WIN) return end(ASK(Win_get_group, win_of(object), group));
    if (peers && !ASK(Comm_test_inter, comm, &inter)) return end(false);
    return end(inter ? ASK(Comm_remote_group, comm, group) : ASK(Comm_group, comm, group));
}

bool ask_parents(MPI_Group *group)
{
    MPI_Comm parent = NULL_COMM;
    return ASK(Comm_get_parent, &parent) && parent != NULL_COMM && ASK(Comm_remote_group, parent, group);
}

/* ---- groups of the agent ---- */

int ask_group_size(MPI_Group group)
{
    int size = 0;
    return ASK(Group_size, group, &size) ? size : 0;
}

int ask_group_rank(MPI_Group group)
{
    int rank = -1;
    return ASK(Group_rank, group, &rank) && rank >= 0 ? rank : -1;
}

bool ask_translate(MPI_Group from, int count, const int *ranks, MPI_Group to, int *found)
{
    return ASK(Group_translate_ranks, from, count, (int *)ranks, to, found);
}

void ask_free_group(MPI_Group *group) { if (mpi.Group_free) mpi.Group_free(group); }

/* ---- groups of the application ---- */

enum { GROUPS = 1 << 10 };
static uint64_t groups[GROUPS]; /* later ones replace earlier ones */

static uint64_t *group_at(uint64_t group) { return &groups[epochs_hash(group) % GROUPS]; }

void ask_remember_group(uint64_t group) { __atomic_store_n(group_at(group), group, __ATOMIC_SEQ_CST); }

void ask_forget_group(uint64_t group)
{
    if (!group ||
        !__atomic_compare_exchange_n(group_at(group), &(uint64_t){group}, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return;
    ask_settle();
}

int ask_members(uint64_t group, MPI_Group all, int *ranks, int most)
{
    enum { MOST = 64 };
    union mpi_handle handle = {.number = group};
    MPI_Group members;
    int size = 0, own[MOST];
    memcpy(&members, &handle, sizeof members);
    begin();
    bool known = group && __atomic_load_n(group_at(group), __ATOMIC_SEQ_CST) == group &&
                 ASK(Group_size, members, &size) && size <= most && size <= MOST;
    for (int i = 0; known && i < size; i++) own[i] = i;
    known = known && (size == 0 || ask_translate(members, size, own, all, ranks));
    return end(known) ? size : -1;
}
