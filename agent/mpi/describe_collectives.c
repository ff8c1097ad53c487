/* describe_collectives.c: the bytes that collective calls move. */
#include "mpi/describe.h"

#include "mpi/ask.h"

enum place { MEMBER, ROOT, OUTSIDE, LEAF }; /* LEAF: sends to a root in the other group */

struct group {
    int rank, size; /* size: of the group that data are sent to or received from */
    int own;        /* the size of the own group */
    bool inter, known;
};

/* What is known of the call's communicator. */
static bool find_comm(struct call_description *call, struct sizes_comm *found)
{
    if (sizes_find_comm(call->comm, call->epoch, found)) return true;
    if (!call->asks)
        describe_unsized(call);
    else if (describe_learn_comm(call->comm, call->epoch, found))
        return true;
    else
        describe_lost(call);
    return false;
}

static struct group group_of(struct call_description *call)
{
    struct sizes_comm comm;
    if (!find_comm(call, &comm)) return (struct group){.known = false};
    return (struct group){comm.rank, comm.peers, comm.size, comm.inter, true};
}

static enum place place_in(struct group group, int root)
{
    if (!group.known) return OUTSIDE;
    if (!group.inter) return group.rank == root ? ROOT : MEMBER;
    if (root == MPI_ROOT) return ROOT;
    return root == MPI_PROC_NULL ? OUTSIDE : LEAF;
}

void describe_collective(struct call_description *call, MPI_Comm comm)
{
    describe_object(call, HANDLE_NUMBER(comm));
    call->operations = 1;
}

static struct group rooted(struct call_description *call, int root, MPI_Comm comm)
{
    describe_collective(call, comm);
    call->peer = root;
    return group_of(call);
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

static uint64_t sum_types(struct call_description *call, const void *counts, size_t wide, const MPI_Datatype *types,
                          int n, uint64_t absent)
{
    uint64_t total = 0;
    for (int i = 0; i < n && types; i++)
        if (counts_at(i, absent)) total += describe_bytes(call, count_at(counts, wide, i), types[i]);
    return total;
}

void describe_bcast(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    enum place place = place_in(rooted(call, root, comm), root);
    if (place == OUTSIDE) return;
    *(place == ROOT ? &call->gave : &call->got) = describe_bytes(call, count, datatype);
}

void describe_reduce(struct call_description *call, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == OUTSIDE) return;
    uint64_t bytes = describe_bytes(call, count, datatype);
    if (place == ROOT) call->got = bytes;
    if (place != ROOT || !group.inter) call->gave = bytes;
}

void describe_allreduce(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_collective(call, comm);
    call->gave = call->got = describe_bytes(call, count, datatype);
}

/* Rank 0 gets nothing. */
void describe_exscan(struct call_description *call, int64_t count, MPI_Datatype datatype, MPI_Comm comm)
{
    describe_allreduce(call, count, datatype, comm);
    struct group group = group_of(call);
    if (!group.known || group.rank == 0) call->got = 0;
}

void describe_reduce_scatter(struct call_description *call, const void *recvcounts, size_t wide, MPI_Datatype datatype,
                             MPI_Comm comm)
{
    describe_collective(call, comm);
    struct group group = group_of(call);
    if (group.own <= group.rank) return;
    call->gave = describe_bytes(call, sum(recvcounts, wide, group.own, 0), datatype);
    call->got = describe_bytes(call, count_at(recvcounts, wide, group.rank), datatype);
}

void describe_reduce_scatter_block(struct call_description *call, int64_t recvcount, MPI_Datatype datatype,
                                   MPI_Comm comm)
{
    describe_collective(call, comm);
    call->got = describe_bytes(call, recvcount, datatype);
    call->gave = call->got * (uint64_t)group_of(call).own;
}

void describe_gather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                     int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->got = describe_bytes(call, recvcount, recvtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        call->gave = describe_bytes(call, sendcount, sendtype);
}

void describe_gatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                      const void *recvcounts, size_t wide, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->got = describe_bytes(call, sum(recvcounts, wide, group.size, 0), recvtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && sendbuf != MPI_IN_PLACE))
        call->gave = describe_bytes(call, sendcount, sendtype);
}

void describe_scatter(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype, const void *recvbuf,
                      int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->gave = describe_bytes(call, sendcount, sendtype) * (uint64_t)group.size;
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        call->got = describe_bytes(call, recvcount, recvtype);
}

void describe_scatterv(struct call_description *call, const void *sendcounts, size_t wide, MPI_Datatype sendtype,
                       const void *recvbuf, int64_t recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct group group = rooted(call, root, comm);
    enum place place = place_in(group, root);
    if (place == ROOT) call->gave = describe_bytes(call, sum(sendcounts, wide, group.size, 0), sendtype);
    if (place == MEMBER || place == LEAF || (place == ROOT && !group.inter && recvbuf != MPI_IN_PLACE))
        call->got = describe_bytes(call, recvcount, recvtype);
}

void describe_allgather(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                        int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    uint64_t one = describe_bytes(call, recvcount, recvtype);
    call->got = one * (uint64_t)group_of(call).size;
    call->gave = sendbuf == MPI_IN_PLACE ? one : describe_bytes(call, sendcount, sendtype);
}

void describe_allgatherv(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                         const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct group group = group_of(call);
    call->got = describe_bytes(call, sum(recvcounts, wide, group.size, 0), recvtype);
    if (sendbuf != MPI_IN_PLACE)
        call->gave = describe_bytes(call, sendcount, sendtype);
    else if (group.rank < group.size)
        call->gave = describe_bytes(call, count_at(recvcounts, wide, group.rank), recvtype);
}

void describe_alltoall(struct call_description *call, const void *sendbuf, int64_t sendcount, MPI_Datatype sendtype,
                       int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    uint64_t size = (uint64_t)group_of(call).size;
    call->got = describe_bytes(call, recvcount, recvtype) * size;
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : describe_bytes(call, sendcount, sendtype) * size;
}

void describe_alltoallv(struct call_description *call, const void *sendbuf, const void *sendcounts,
                        MPI_Datatype sendtype, const void *recvcounts, size_t wide, MPI_Datatype recvtype,
                        MPI_Comm comm)
{
    describe_collective(call, comm);
    int size = group_of(call).size;
    call->got = describe_bytes(call, sum(recvcounts, wide, size, 0), recvtype);
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : describe_bytes(call, sum(sendcounts, wide, size, 0), sendtype);
}

void describe_alltoallw(struct call_description *call, const void *sendbuf, const void *sendcounts,
                        const MPI_Datatype *sendtypes, const void *recvcounts, size_t wide,
                        const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    describe_collective(call, comm);
    int size = group_of(call).size;
    call->got = sum_types(call, recvcounts, wide, recvtypes, size, 0);
    call->gave = sendbuf == MPI_IN_PLACE ? call->got : sum_types(call, sendcounts, wide, sendtypes, size, 0);
}

static struct ask_neighbors neighbors(struct call_description *call)
{
    struct sizes_comm comm;
    struct ask_neighbors asked = {0, 0, 0};
    if (!find_comm(call, &comm)) return asked;
    if (comm.has_neighbors) return (struct ask_neighbors){comm.in, comm.out, comm.absent};
    if (!call->asks) {
        describe_unsized(call);
    } else if (ask_neighbors(call->comm, call->epoch, &asked)) {
        comm.has_neighbors = true;
        comm.in = asked.in;
        comm.out = asked.out;
        comm.absent = asked.absent;
        sizes_add_comm(&comm);
    } else {
        describe_lost(call);
    }
    return asked;
}

static uint64_t present(int count, uint64_t absent) { return (uint64_t)(count - __builtin_popcountll(absent)); }

void describe_neighbor_allgather(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                 int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct ask_neighbors n = neighbors(call);
    call->gave = describe_bytes(call, sendcount, sendtype);
    call->got = describe_bytes(call, recvcount, recvtype) * present(n.in, n.absent);
}

void describe_neighbor_allgatherv(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                  const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct ask_neighbors n = neighbors(call);
    call->gave = describe_bytes(call, sendcount, sendtype);
    call->got = describe_bytes(call, sum(recvcounts, wide, n.in, n.absent), recvtype);
}

void describe_neighbor_alltoall(struct call_description *call, int64_t sendcount, MPI_Datatype sendtype,
                                int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct ask_neighbors n = neighbors(call);
    call->gave = describe_bytes(call, sendcount, sendtype) * present(n.out, n.absent);
    call->got = describe_bytes(call, recvcount, recvtype) * present(n.in, n.absent);
}

void describe_neighbor_alltoallv(struct call_description *call, const void *sendcounts, MPI_Datatype sendtype,
                                 const void *recvcounts, size_t wide, MPI_Datatype recvtype, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct ask_neighbors n = neighbors(call);
    call->gave = describe_bytes(call, sum(sendcounts, wide, n.out, n.absent), sendtype);
    call->got = describe_bytes(call, sum(recvcounts, wide, n.in, n.absent), recvtype);
}

void describe_neighbor_alltoallw(struct call_description *call, const void *sendcounts, const MPI_Datatype *sendtypes,
                                 const void *recvcounts, size_t wide, const MPI_Datatype *recvtypes, MPI_Comm comm)
{
    describe_collective(call, comm);
    struct ask_neighbors n = neighbors(call);
    call->gave = sum_types(call, sendcounts, wide, sendtypes, n.out, n.absent);
    call->got = sum_types(call, recvcounts, wide, recvtypes, n.in, n.absent);
}
