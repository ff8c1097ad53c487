/* counter.c: a PMPI library that counts calls, and sent messages and bytes by destination in MPI_COMM_WORLD, independently of mpitx. In
 * MPI_Finalize it writes them to $COUNTER.RANK: "MPI_Send CALLS BYTES" and "to RANK MESSAGES BYTES". It counts MPI_Send, not PMPI_Send. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION >= 4 /* mpi4py 4 calls these */
#define LARGE(X) X(Send_c) X(Isend_c) X(Recv_c) X(Irecv_c) X(Bcast_c) X(Allreduce_c)
#else
#define LARGE(X)
#endif
#define FUNCTIONS(X) LARGE(X) X(Send) X(Isend) X(Ssend) X(Recv) X(Irecv) X(Wait) X(Waitall) X(Iprobe) X(Sendrecv) X(Barrier) X(Bcast) X(Reduce) X(Allreduce) \
    X(Comm_rank) X(Comm_size) X(Comm_dup) X(Comm_set_name) X(Get_count)
enum {
#define X(name) name,
    FUNCTIONS(X)
#undef X
        NUMBER
};
static const char *const names[] = {
#define X(name) "MPI_" #name,
    FUNCTIONS(X)
#undef X
};
static long calls[NUMBER], bytes[NUMBER], to_messages[64], to_bytes[64];

static void sent(int function, long long count, MPI_Datatype type, int destination, MPI_Comm comm)
{
    MPI_Group group, world;
    int size, rank;
    if (destination == MPI_PROC_NULL) return;
    PMPI_Type_size(type, &size);
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &destination, world, &rank);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    bytes[function] += (long)(count * size);
    to_messages[rank]++;
    to_bytes[rank] += (long)(count * size);
}

#define COUNT(name, parameters, arguments) \
    int MPI_##name parameters              \
    {                                      \
        calls[name]++;                     \
        return PMPI_##name arguments;      \
    }
#define COUNT_SENT(name, parameters, arguments)    \
    int MPI_##name parameters                      \
    {                                              \
        calls[name]++;                             \
        sent(name, count, type, destination, comm); \
        return PMPI_##name arguments;              \
    }

COUNT_SENT(Send, (const void *data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm), (data, count, type, destination, tag, comm))
COUNT_SENT(Ssend, (const void *data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm), (data, count, type, destination, tag, comm))
COUNT_SENT(Isend, (const void *data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request *request),
           (data, count, type, destination, tag, comm, request))
COUNT_SENT(Sendrecv,
           (const void *data, int count, MPI_Datatype type, int destination, int tag, void *in, int most, MPI_Datatype in_type, int source, int in_tag,
            MPI_Comm comm, MPI_Status *status),
           (data, count, type, destination, tag, in, most, in_type, source, in_tag, comm, status))
COUNT(Recv, (void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status), (data, count, type, source, tag, comm, status))
COUNT(Irecv, (void *data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request), (data, count, type, source, tag, comm, request))
COUNT(Wait, (MPI_Request *request, MPI_Status *status), (request, status))
COUNT(Waitall, (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses))
COUNT(Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status), (source, tag, comm, flag, status))
COUNT(Barrier, (MPI_Comm comm), (comm))
COUNT(Bcast, (void *data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
COUNT(Reduce, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm), (in, out, count, type, op, root, comm))
COUNT(Allreduce, (const void *in, void *out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (in, out, count, type, op, comm))
COUNT(Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
COUNT(Comm_size, (MPI_Comm comm, int *size), (comm, size))
COUNT(Comm_dup, (MPI_Comm comm, MPI_Comm *copy), (comm, copy))
COUNT(Comm_set_name, (MPI_Comm comm, const char *name), (comm, name))
COUNT(Get_count, (const MPI_Status *status, MPI_Datatype type, int *count), (status, type, count))

#if MPI_VERSION >= 4
COUNT_SENT(Send_c, (const void *data, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm), (data, count, type, destination, tag, comm))
COUNT_SENT(Isend_c, (const void *data, MPI_Count count, MPI_Datatype type, int destination, int tag, MPI_Comm comm, MPI_Request *request),
           (data, count, type, destination, tag, comm, request))
COUNT(Recv_c, (void *data, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status),
      (data, count, type, source, tag, comm, status))
COUNT(Irecv_c, (void *data, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
      (data, count, type, source, tag, comm, request))
COUNT(Bcast_c, (void *data, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm))
COUNT(Allreduce_c, (const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm), (in, out, count, type, op, comm))
#endif

int MPI_Finalize(void)
{
    char path[4096];
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"); /* mpitx would count a call that asks for it */
    snprintf(path, sizeof path, "%s.%s", getenv("COUNTER"), rank ? rank : getenv("PMI_RANK"));
    FILE *file = fopen(path, "w");
    for (int i = 0; file && i < NUMBER; i++)
        if (calls[i]) fprintf(file, "%s %ld %ld\n", names[i], calls[i], bytes[i]);
    for (int i = 0; file && i < 64; i++)
        if (to_messages[i]) fprintf(file, "to %d %ld %ld\n", i, to_messages[i], to_bytes[i]);
    if (file) fclose(file);
    return PMPI_Finalize();
}
