/* strict.c: stands between the agent and the MPI library, and takes the agent's own calls. It ends the process with code 97 if one has a
 * freed handle, and with 98 if the library refuses one. With STRICT_FAIL=N the Nth call of each routine fails. The programs must call MPI_X,
 * not PMPI_X. At the end it writes how often it was called into the file STRICT_LOG.pid: routine calls failures. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- freed handles: the library gives them again ---- */

enum { MOST = 1024 };
static uint64_t freed[MOST];

static uint64_t number(const void *handle, size_t size)
{
    uint64_t n = 0;
    memcpy(&n, handle, size);
    return n;
}

static void set(uint64_t from, uint64_t to)
{
    for (int i = 0; i < MOST; i++) {
        uint64_t expected = from;
        if (__atomic_compare_exchange_n(&freed[i], &expected, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return;
    }
}

static void mark(uint64_t handle, int is_freed)
{
    set(handle, 0);
    if (is_freed && handle) set(0, handle);
}

static void check(const char *routine, uint64_t handle)
{
    for (int i = 0; i < MOST; i++)
        if (handle && __atomic_load_n(&freed[i], __ATOMIC_SEQ_CST) == handle) dprintf(2, "strict: MPI_%s on a freed handle\n", routine), _exit(97);
}

#define NEXT(name, ...)                                                                                                                    \
    static int (*next)(__VA_ARGS__);                                                                                                       \
    if (!next) next = (int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define FREES(name, type)                                                                                                                  \
    int name(type *handle)                                                                                                                 \
    {                                                                                                                                      \
        NEXT(name, type *);                                                                                                                \
        uint64_t old = handle ? number(handle, sizeof *handle) : 0;                                                                        \
        int rc = next(handle);                                                                                                             \
        if (rc == MPI_SUCCESS) mark(old, 1);                                                                                               \
        return rc;                                                                                                                         \
    }
FREES(MPI_Comm_free, MPI_Comm)
FREES(MPI_Comm_disconnect, MPI_Comm)
FREES(MPI_Win_free, MPI_Win)
FREES(MPI_Type_free, MPI_Datatype)

#define ARGUMENTS(...) __VA_ARGS__
#define MAKES(name, parameters, arguments, made)                                                                                           \
    int name(parameters)                                                                                                                   \
    {                                                                                                                                      \
        NEXT(name, parameters);                                                                                                            \
        int rc = next(arguments);                                                                                                          \
        if (rc == MPI_SUCCESS) mark(number(made, sizeof *made), 0);                                                                        \
        return rc;                                                                                                                         \
    }
MAKES(MPI_Comm_dup, ARGUMENTS(MPI_Comm comm, MPI_Comm *made), ARGUMENTS(comm, made), made)
MAKES(MPI_Comm_idup, ARGUMENTS(MPI_Comm comm, MPI_Comm *made, MPI_Request *request), ARGUMENTS(comm, made, request), made)
MAKES(MPI_Comm_split, ARGUMENTS(MPI_Comm comm, int color, int key, MPI_Comm *made), ARGUMENTS(comm, color, key, made), made)
MAKES(MPI_Intercomm_create, ARGUMENTS(MPI_Comm local, int leader, MPI_Comm peer, int remote, int tag, MPI_Comm *made),
      ARGUMENTS(local, leader, peer, remote, tag, made), made)
MAKES(MPI_Cart_create, ARGUMENTS(MPI_Comm comm, int n, const int *dims, const int *periods, int reorder, MPI_Comm *made),
      ARGUMENTS(comm, n, dims, periods, reorder, made), made)
MAKES(MPI_Graph_create, ARGUMENTS(MPI_Comm comm, int n, const int *index, const int *edges, int reorder, MPI_Comm *made),
      ARGUMENTS(comm, n, index, edges, reorder, made), made)
MAKES(MPI_Dist_graph_create_adjacent,
      ARGUMENTS(MPI_Comm comm, int in, const int *from, const int *w, int out, const int *to, const int *v, MPI_Info info, int reorder, MPI_Comm *made),
      ARGUMENTS(comm, in, from, w, out, to, v, info, reorder, made), made)
MAKES(MPI_Type_contiguous, ARGUMENTS(int count, MPI_Datatype old, MPI_Datatype *made), ARGUMENTS(count, old, made), made)
MAKES(MPI_Type_dup, ARGUMENTS(MPI_Datatype old, MPI_Datatype *made), ARGUMENTS(old, made), made)
MAKES(MPI_Win_create, ARGUMENTS(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *made),
      ARGUMENTS(base, size, unit, info, comm, made), made)

/* ---- the agent's calls ---- */

struct tally {
    const char *routine;
    int calls, failures;
};

static struct tally tallies[64];
static int tally_count;

static void write_log(void)
{
    char name[4096];
    if (!getenv("STRICT_LOG")) return;
    snprintf(name, sizeof name, "%s.%d", getenv("STRICT_LOG"), (int)getpid());
    FILE *file = fopen(name, "w");
    for (int i = 0; file && i < tally_count; i++) fprintf(file, "%s %d %d\n", tallies[i].routine, tallies[i].calls, tallies[i].failures);
    if (file) fclose(file);
}

static int fails(struct tally **tally, const char *routine)
{
    static int nth = -1;
    if (nth < 0) {
        nth = getenv("STRICT_FAIL") ? atoi(getenv("STRICT_FAIL")) : 0;
        atexit(write_log);
    }
    if (!*tally) *tally = &tallies[tally_count++], (*tally)->routine = routine;
    int failed = ++(*tally)->calls == nth;
    (*tally)->failures += failed;
    return failed;
}

static int done(const char *routine, int rc)
{
    if (rc != MPI_SUCCESS) dprintf(2, "strict: the library refuses MPI_%s\n", routine), _exit(98);
    return rc;
}

#define CALL(name, parameters, arguments, handle)                                                                                          \
    int PMPI_##name(parameters)                                                                                                            \
    {                                                                                                                                      \
        NEXT(PMPI_##name, parameters);                                                                                                     \
        static struct tally *tally;                                                                                                        \
        check(#name, handle);                                                                                                              \
        if (fails(&tally, #name)) return MPI_ERR_INTERN;                                                                                   \
        return done(#name, next(arguments));                                                                                               \
    }
#define OF(handle) number(&handle, sizeof handle)
CALL(Query_thread, int *level, level, 0)
CALL(Type_size, ARGUMENTS(MPI_Datatype type, int *size), ARGUMENTS(type, size), OF(type))
CALL(Type_size_x, ARGUMENTS(MPI_Datatype type, MPI_Count *size), ARGUMENTS(type, size), OF(type))
CALL(Comm_rank, ARGUMENTS(MPI_Comm comm, int *rank), ARGUMENTS(comm, rank), OF(comm))
CALL(Comm_size, ARGUMENTS(MPI_Comm comm, int *size), ARGUMENTS(comm, size), OF(comm))
CALL(Comm_remote_size, ARGUMENTS(MPI_Comm comm, int *size), ARGUMENTS(comm, size), OF(comm))
CALL(Comm_test_inter, ARGUMENTS(MPI_Comm comm, int *flag), ARGUMENTS(comm, flag), OF(comm))
CALL(Comm_get_name, ARGUMENTS(MPI_Comm comm, char *name, int *length), ARGUMENTS(comm, name, length), OF(comm))
CALL(Comm_group, ARGUMENTS(MPI_Comm comm, MPI_Group *group), ARGUMENTS(comm, group), OF(comm))
CALL(Comm_remote_group, ARGUMENTS(MPI_Comm comm, MPI_Group *group), ARGUMENTS(comm, group), OF(comm))
CALL(Comm_get_parent, MPI_Comm *parent, parent, 0)
CALL(Topo_test, ARGUMENTS(MPI_Comm comm, int *status), ARGUMENTS(comm, status), OF(comm))
CALL(Cartdim_get, ARGUMENTS(MPI_Comm comm, int *n), ARGUMENTS(comm, n), OF(comm))
CALL(Cart_shift, ARGUMENTS(MPI_Comm comm, int direction, int by, int *from, int *to), ARGUMENTS(comm, direction, by, from, to), OF(comm))
CALL(Graph_neighbors_count, ARGUMENTS(MPI_Comm comm, int rank, int *n), ARGUMENTS(comm, rank, n), OF(comm))
CALL(Dist_graph_neighbors_count, ARGUMENTS(MPI_Comm comm, int *in, int *out, int *weighted), ARGUMENTS(comm, in, out, weighted), OF(comm))
CALL(Graph_neighbors, ARGUMENTS(MPI_Comm comm, int rank, int n, int *ranks), ARGUMENTS(comm, rank, n, ranks), OF(comm))
CALL(Dist_graph_neighbors, ARGUMENTS(MPI_Comm comm, int in, int *from, int *w, int out, int *to, int *v), ARGUMENTS(comm, in, from, w, out, to, v), OF(comm))
CALL(Win_get_name, ARGUMENTS(MPI_Win win, char *name, int *length), ARGUMENTS(win, name, length), OF(win))
CALL(Win_get_group, ARGUMENTS(MPI_Win win, MPI_Group *group), ARGUMENTS(win, group), OF(win))
CALL(Group_size, ARGUMENTS(MPI_Group group, int *size), ARGUMENTS(group, size), 0)
CALL(Group_rank, ARGUMENTS(MPI_Group group, int *rank), ARGUMENTS(group, rank), 0)
CALL(Group_translate_ranks, ARGUMENTS(MPI_Group from, int n, const int *ranks, MPI_Group to, int *found), ARGUMENTS(from, n, ranks, to, found), 0)
CALL(Group_free, MPI_Group *group, group, 0)
