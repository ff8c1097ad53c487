/* describe_collectives.c: the bytes that collective calls move. */
#include "mpi/describe.h"

enum place { MEMBER, ROOT, OUTSIDE, LEAF }; /* LEAF: sends to a root in the other group */

struct group {
    int rank, size; /* size: of the group that data are sent to or received from */
    bool inter;
};

static struct group group_of(MPI_Comm comm)
{
    struct group group = {0, 0, false};
    int inter = 0;
    if (comm == NULL_COMM || !mpi.Comm_size) return group;
    mpi.Comm_test_inter(comm, &inter);
    group.inter = inter;
    mpi.Comm_rank(comm, &group.rank);
    if (inter)
        mpi.Comm_remote_size(comm, &group.size);
    else
        mpi.Comm_size(comm, &group.size);
    return group;
}

static enum place place_in(struct group group, int root)
{
    if (!group.inter) return group.rank == root ? ROOT : MEMBER;
    if (root == MPI_ROOT) return ROOT;
    return root == MPI_PROC_NULL ? OUTSIDE : LEAF;
}

void describe_collective(struct call_description *call, MPI_Comm comm)
{
    call->comm = HANDLE_NUMBER(comm);
    call->operations = 1;
}

static struct group rooted(struct call_description *call, int root, MPI_Comm comm)
{
    describe_collective(call, comm);
    call->peer = root;
    return group_of(comm);
}

/* The library refuses calls without counts. */
static int64_t count_at(const void *counts, size_t wide, int i)
{
    if (!counts) return 0;
    return wide == sizeof(int) ? ((const int *)counts)[i] : ((const MPI_Count *)counts)[i];
}

/* absent: a bit for each of the first 64 counts that is not added. */
static bool counts_at(int i, uint64_t absent) { return i >= 64 || !(absent >> i & 1); }

static int64_t sum(const void *counts, size_t wide, int n, uint64_t absent)
{
    int64_t total = 0;
    for (int i = 0; i < n; i++)
        if (counts_at(i, absent)) total += count_at(counts, wide, i);
    return total;
}

static uint64_t sum_types(const void *counts, size_t wide, const MPI_Datatype *types, int n, uint64_t absent)
{
    uint64_t total = 0;
    for (int i = 0; i < n && types; i++)
        if (counts_at(i, absent)) total += describe_bytes(count_at(counts, wide, i), types[i]);
    return total;
}

void describe_bcast(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    enum place place = place_in(rooted(call, root, comm), root);
    if (place == OUTSIDE) return;
    *(place == ROOT ? &call->gave : &call->got) = describe_bytes(count, datatype);
}

void describe_reduce(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == OUTSIDE) return;
    uint64_t bytes = describe_bytes(count, datatype);
    if (place == ROOT) call->got = bytes;
    if (place != ROOT || !group.inter) call->gave = bytes;
}

void describe_allreduce(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(call, comm);
    call->gave = call->got = describe_bytes(count, datatype);
}

/* Rank 0 gets nothing. */
void describe_exscan(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_allreduce(call, count, datatype, comm);
    if (group_of(comm).rank == 0) call->got = 0;
}

void describe_reduce_scatter(struct call_description *call, const void *recvcounts, size_t wide, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct group group = group_of(comm);
    int size = group.size;
    if (group.inter) mpi.Comm_size(comm, &size);
    if (size <= group.rank) return;
    call->gave = describe_bytes(sum(recvcounts, wide, size, 0), datatype);
    call->got = describe_bytes(count_at(recvcounts, wide, group.rank), datatype);
}

void describe_reduce_scatter_block(struct call_description *call, int64_t recvcount, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(call, comm);
    int size = 0;
    if (comm == NULL_COMM || !mpi.Comm_size) return;
    mpi.Comm_size(comm, &size);
    call->got = describe_bytes(recvcount, datatype);
    call->gave = call->got * (uint64_t)size;
}

void describe_gather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                     int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->got = describe_bytes(recvcount, recvtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        call->gave = describe_bytes(sendcount, sendtype);
}

void describe_gatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                      const void *recvcounts, size_t wide, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->got = describe_bytes(sum(recvcounts, wide, group.size, 0), recvtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        call->gave = describe_bytes(sendcount, sendtype);
}

void describe_scatter(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype, const void *recvbuf,
                      int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->gave = describe_bytes(sendcount, sendtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        call->got = describe_bytes(recvcount, recvtype);
}

void describe_scatterv(struct call_description *call, const void *sendcounts, size_t wide, MPI_Datatype sendtype,
                       const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->gave = describe_bytes(sum(sendcounts, wide, group.size, 0), sendtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        call->got = describe_bytes(recvcount, recvtype);
}

void describe_allgather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                        int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    uint64_t one = describe_bytes(recvcount, recvtype);
    call->got = one * (uint64_t)group_of(comm).size;
    call->gave = sendbuf == MPI_IN_PLACE ? one : describe_bytes(sendcount, sendtype);
}

void describe_allgatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                         const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct group group = group_of(comm);
    call->got = describe_bytes(sum(recvcounts, wide, group.size, 0), recvtype);
    if (sendbuf != MPI_IN_PLACE)
        call->gave = describe_bytes(sendcount, sendtype);
    else if (group.rank < group.size)
        call->gave = describe_bytes(count_at(recvcounts, wide, group.rank), recvtype);
}

void describe_alltoall(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    uint64_t size = (uint64_t)group_of(comm).size;
    call->got = describe_bytes(recvcount, recvtype) * size;
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : describe_bytes(sendcount, sendtype) * size;
}

void describe_alltoallv(struct call_description *call, const void *sendbuf, const void *sendcounts, MPI_Datatype sendtype,
                        const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    int size = group_of(comm).size;
    call->got = describe_bytes(sum(recvcounts, wide, size, 0), recvtype);
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : describe_bytes(sum(sendcounts, wide, size, 0), sendtype);
}

void describe_alltoallw(struct call_description *call, const void *sendbuf, const void *sendcounts, const MPI_Datatype *sendtypes,
                        const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    describe_collective(call, comm);
    int size = group_of(comm).size;
    call->got = sum_types(recvcounts, wide, recvtypes, size, 0);
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : sum_types(sendcounts, wide, sendtypes, size, 0);
}

/* The number of neighbors that send to this process (in) and receive from it (out). */
struct neighbors {
    int in, out;
    uint64_t absent; /* a bit for each neighbor beyond an edge of a Cartesian grid (MPI_PROC_NULL): its buffers are not used */
};

static uint64_t beyond_edges(MPI_Comm comm, int dimensions)
{
    uint64_t absent = 0;
    for (int i = 0; i < dimensions && i < 32 && mpi.Cart_shift; i++) {
        int before = 0, after = 0;
        mpi.Cart_shift(comm, i, 1, &before, &after);
        if (before == MPI_PROC_NULL) absent |= UINT64_C(1) << (2 * i);
        if (after == MPI_PROC_NULL) absent |= UINT64_C(1) << (2 * i + 1);
    }
    return absent;
}

static struct neighbors neighbors(MPI_Comm comm)
{
    struct neighbors n = {0, 0, 0};
    int topology = MPI_UNDEFINED, weighted, rank;
    if (comm == NULL_COMM || !mpi.Topo_test || mpi.Topo_test(comm, &topology) != MPI_SUCCESS) return n;
    if (topology == MPI_CART) {
        mpi.Cartdim_get(comm, &n.in);
        n.absent = beyond_edges(comm, n.in);
        n.in = n.out = 2 * n.in;
    } else if (topology == MPI_GRAPH) {
        mpi.Comm_rank(comm, &rank);
        mpi.Graph_neighbors_count(comm, rank, &n.in);
        n.out = n.in;
    } else if (topology == MPI_DIST_GRAPH) {
        mpi.Dist_graph_neighbors_count(comm, &n.in, &n.out, &weighted);
    }
    return n;
}

static uint64_t present(int count, uint64_t absent) { return (uint64_t)(count - __builtin_popcountll(absent)); }

void describe_neighbor_allgather(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                 int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct neighbors n = neighbors(comm);
    call->gave = describe_bytes(sendcount, sendtype);
    call->got = describe_bytes(recvcount, recvtype) * present(n.in, n.absent);
}

void describe_neighbor_allgatherv(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                  const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct neighbors n = neighbors(comm);
    call->gave = describe_bytes(sendcount, sendtype);
    call->got = describe_bytes(sum(recvcounts, wide, n.in, n.absent), recvtype);
}

void describe_neighbor_alltoall(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct neighbors n = neighbors(comm);
    call->gave = describe_bytes(sendcount, sendtype) * present(n.out, n.absent);
    call->got = describe_bytes(recvcount, recvtype) * present(n.in, n.absent);
}

void describe_neighbor_alltoallv(struct call_description *call, const void *sendcounts, MPI_Datatype sendtype,
                                 const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct neighbors n = neighbors(comm);
    call->gave = describe_bytes(sum(sendcounts, wide, n.out, n.absent), sendtype);
    call->got = describe_bytes(sum(recvcounts, wide, n.in, n.absent), recvtype);
}

void describe_neighbor_alltoallw(struct call_description *call, const void *sendcounts, const MPI_Datatype *sendtypes,
                                 const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct neighbors n = neighbors(comm);
    call->gave = sum_types(sendcounts, wide, sendtypes, n.out, n.absent);
    call->got = sum_types(recvcounts, wide, recvtypes, n.in, n.absent);
}
