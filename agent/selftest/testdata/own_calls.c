/* own_calls.c: uses handles in ways that the agent's own calls must not stumble over: requests that complete after their communicator was
 * freed, calls that the library refuses, and objects that are freed in callbacks. Writes what happens into the file ARGUMENT.rank. A second
 * argument: without threads. Up to eight processes. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int rank, size, handled, provided;
static FILE *output;

static void comm_handler(MPI_Comm *comm, int *code, ...) { handled++; }
static void win_handler(MPI_Win *win, int *code, ...) { handled++; }
static void file_handler(MPI_File *file, int *code, ...) { handled++; }

/* ---- freed communicators ---- */

enum { SENDS, BACK, REQUESTS };
static int right, left, out, back[2];

static MPI_Comm post(MPI_Request *requests, int source, int tag)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    out = 100 * tag + rank;
    back[0] = -1;
    MPI_Irecv(back, 1, MPI_INT, source, tag, comm, &requests[BACK]);
    MPI_Isend(&out, 1, MPI_INT, right, tag, comm, &requests[SENDS]);
    return comm;
}

static void *wait_elsewhere(void *requests)
{
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    return NULL;
}

static void complete(int way, MPI_Request *requests)
{
    int done = 0, flag = 0, some, indices[REQUESTS];
    pthread_t thread;
    switch (way) {
    case 0: MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE); break;
    case 1: MPI_Wait(&requests[BACK], MPI_STATUS_IGNORE), MPI_Wait(&requests[SENDS], MPI_STATUS_IGNORE); break;
    case 2:
        while (!flag) MPI_Test(&requests[BACK], &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&requests[SENDS], MPI_STATUS_IGNORE);
        break;
    case 3:
        for (int i = 0; i < REQUESTS; i++) MPI_Waitany(REQUESTS, requests, &some, MPI_STATUS_IGNORE);
        break;
    case 4:
        for (; done < REQUESTS; done += some) MPI_Waitsome(REQUESTS, requests, &some, indices, MPI_STATUSES_IGNORE);
        break;
    case 5:
        for (; done < REQUESTS; done += some) MPI_Testsome(REQUESTS, requests, &some, indices, MPI_STATUSES_IGNORE);
        break;
    case 6:
        while (!flag) MPI_Testall(REQUESTS, requests, &flag, MPI_STATUSES_IGNORE);
        break;
    case 7:
        if (provided < MPI_THREAD_SERIALIZED) {
            wait_elsewhere(requests);
            break;
        }
        pthread_create(&thread, NULL, wait_elsewhere, requests);
        pthread_join(thread, NULL);
        break;
    }
}

static void freed_before(void)
{
    MPI_Request requests[REQUESTS];
    for (int way = 0; way < 8; way++) {
        MPI_Comm comm = post(requests, way % 2 ? MPI_ANY_SOURCE : left, way), again;
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_SELF, &again); /* MPICH reuses the handle */
        MPI_Sendrecv(&way, 1, MPI_INT, 0, 50, &back[1], 1, MPI_INT, 0, 50, again, MPI_STATUS_IGNORE);
        complete(way, requests);
        MPI_Comm_free(&again);
        fprintf(output, "%d: way %d got %d\n", rank, way, back[0]);
    }
}

static void persistent(void)
{
    MPI_Request requests[REQUESTS];
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Recv_init(back, 1, MPI_INT, left, 30, comm, &requests[BACK]);
    MPI_Send_init(&out, 1, MPI_INT, right, 30, comm, &requests[SENDS]);
    MPI_Startall(REQUESTS, requests);
    MPI_Comm_free(&comm);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    MPI_Startall(REQUESTS, requests);
    MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < REQUESTS; i++) MPI_Request_free(&requests[i]);
    fprintf(output, "%d: persistent, got %d\n", rank, back[0]);
}

static void matched_and_cancelled(void)
{
    MPI_Comm comm;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int cancelled;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Isend(&rank, 1, MPI_INT, 0, 40, comm, &request);
    MPI_Mprobe(0, 40, comm, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
    MPI_Mrecv(back, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Irecv(back, 1, MPI_INT, 0, 41, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    fprintf(output, "%d: matched %d, cancelled %d\n", rank, back[0], cancelled);
}

/* ---- callbacks and types ---- */

static MPI_Comm other;

static int deleting(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int from = 7, to = 0;
    MPI_Sendrecv(&from, 1, MPI_INT, 0, 60, &to, 1, MPI_INT, 0, 60, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    return to == 7 ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static void callbacks(void)
{
    int keyval, rc;
    MPI_Comm comm;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleting, &keyval, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &comm);
        MPI_Comm_dup(MPI_COMM_SELF, &other);
        MPI_Comm_set_attr(comm, keyval, NULL);
        rc = MPI_Comm_free(&comm);
        fprintf(output, "%d: freed in a callback: %d\n", rank, rc);
    }
    MPI_Comm_free_keyval(&keyval);
}

static void types(void)
{
    MPI_Datatype pair, pairs;
    MPI_Request request;
    int from[4] = {1, 2, 3, 4}, to[4] = {0};
    for (int i = 0; i < 3; i++) {
        MPI_Type_contiguous(2, MPI_INT, &pair);
        MPI_Type_commit(&pair);
        MPI_Type_dup(pair, &pairs);
        MPI_Irecv(to, 2, pair, 0, 70, MPI_COMM_SELF, &request);
        MPI_Type_free(&pair);
        MPI_Send(from, 2, pairs, 0, 70, MPI_COMM_SELF);
        MPI_Type_free(&pairs);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    fprintf(output, "%d: types %d\n", rank, to[3]);
}

/* ---- groups ---- */

static void neighbors(void)
{
    MPI_Comm cart, graph, dist;
    int dims = size, periods = 0, index[8], edges[16], n = 0, from[16];
    MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periods, 0, &cart);
    for (int i = 0; i < size; i++) {
        edges[n++] = (i + 1) % size;
        edges[n++] = (i + size - 1) % size;
        index[i] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &dist);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, cart);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, dist);
    MPI_Neighbor_allgather(&rank, 1, MPI_INT, from, 1, MPI_INT, graph);
    MPI_Comm_free(&cart), MPI_Comm_free(&graph), MPI_Comm_free(&dist);
}

static void groups(void)
{
    MPI_Comm half, inter;
    int to[16];
    MPI_Comm_split(MPI_COMM_WORLD, rank > 0, rank, &half); /* of unequal size with three processes */
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank > 0 ? 0 : 1, 5, &inter);
    MPI_Comm_set_name(inter, "inter");
    int sum = 0, root = rank > 0 ? 0 : MPI_ROOT;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    MPI_Bcast(&root, 1, MPI_INT, root, inter);
    if (rank == 0)
        for (int i = 0; i < size - 1; i++) MPI_Recv(to, 1, MPI_INT, i, 80, inter, MPI_STATUS_IGNORE);
    else
        MPI_Send(&rank, 1, MPI_INT, 0, 80, inter);
    for (int round = 0; round < 3; round++) neighbors();
    fprintf(output, "%d: sum of the others %d\n", rank, sum);
    MPI_Comm_free(&half), MPI_Comm_free(&inter);
}

/* ---- calls that the library refuses ---- */

#define REFUSED(call) (handled = 0, rc = (call), fprintf(output, "%d: line %d: %s, handlers %d\n", rank, __LINE__, rc ? "refused" : "accepted", handled))

/* Open MPI calls the handler of MPI_COMM_NULL in some routines, which cannot be set. */
#ifdef OPEN_MPI
#define FATAL_ON(comm) ((comm) == MPI_COMM_NULL)
#else
#define FATAL_ON(comm) 0
#endif

static void refused_messages(MPI_Comm comm, MPI_Datatype type, int count, int to)
{
    int rc, v[64] = {0}, w[64], counts[8] = {0}, flag;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    REFUSED(MPI_Send(v, count, type, to, 0, comm));
    REFUSED(MPI_Isend(v, count, type, to, 0, comm, &request));
    REFUSED(MPI_Send_init(v, count, type, to, 0, comm, &request));
    REFUSED(MPI_Irecv(v, count, type, to, 0, comm, &request));
    REFUSED(MPI_Recv(v, count, type, to, 0, comm, &status));
    REFUSED(MPI_Sendrecv(v, count, type, to, 0, w, count, type, to, 0, comm, &status));
    if (FATAL_ON(comm)) return;
    if (comm == MPI_COMM_NULL || to > size) REFUSED(MPI_Probe(to, 0, comm, &status)); /* else it waits */
    REFUSED(MPI_Iprobe(to, 0, comm, &flag, &status));
    if (comm != MPI_COMM_NULL) return; /* MPICH 4.0.2 damages the stack when it refuses collectives */
    REFUSED(MPI_Bcast(v, count, type, to, comm));
    REFUSED(MPI_Reduce(v, w, count, type, MPI_SUM, to, comm));
    REFUSED(MPI_Gather(v, count, type, w, count, type, to, comm));
    REFUSED(MPI_Scatterv(v, counts, counts, type, w, count, type, to, comm));
}

static void refused_collectives(MPI_Comm comm, MPI_Datatype type)
{
    int rc, v[64] = {0}, w[64], counts[8] = {0};
    MPI_Request request;
    MPI_Datatype types[8] = {type, type, type, type, type, type, type, type};
    REFUSED(MPI_Allreduce(v, w, 1, type, MPI_SUM, comm));
    REFUSED(MPI_Exscan(v, w, 1, type, MPI_SUM, comm));
    REFUSED(MPI_Iallreduce(v, w, 1, type, MPI_SUM, comm, &request));
    REFUSED(MPI_Allgather(v, 1, type, w, 1, type, comm));
    REFUSED(MPI_Allgatherv(v, 1, type, w, counts, counts, type, comm));
    REFUSED(MPI_Alltoall(v, 1, type, w, 1, type, comm));
    REFUSED(MPI_Alltoallw(v, counts, counts, types, w, counts, counts, types, comm));
    REFUSED(MPI_Reduce_scatter(v, w, counts, type, MPI_SUM, comm));
    REFUSED(MPI_Reduce_scatter_block(v, w, 1, type, MPI_SUM, comm));
    REFUSED(MPI_Neighbor_alltoall(v, 1, type, w, 1, type, comm));
    REFUSED(MPI_Ineighbor_allgather(v, 1, type, w, 1, type, comm, &request));
}

static void refused_objects(MPI_Comm comm)
{
    int rc, v = 0, code;
    MPI_Comm made;
    MPI_Win win = MPI_WIN_NULL;
    MPI_File file = MPI_FILE_NULL;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    REFUSED(MPI_Comm_dup(comm, &made));
    REFUSED(MPI_Comm_split(comm, 0, 0, &made));
    REFUSED(MPI_Comm_idup(comm, &made, &request));
    REFUSED(MPI_Comm_set_name(comm, "name"));
    made = comm;
    REFUSED(MPI_Comm_free(&made));
    made = MPI_COMM_WORLD;
    REFUSED(MPI_Comm_free(&made));
    REFUSED(MPI_Type_free(&type));
    REFUSED(MPI_Type_commit(&type));
    REFUSED(MPI_Info_set(info, "path", "/tmp"));
    REFUSED(MPI_Info_free(&info));
    REFUSED(MPI_Request_free(&request));
    REFUSED(MPI_Win_create(&v, 4, 1, MPI_INFO_NULL, comm, &win));
    win = MPI_WIN_NULL;
    REFUSED(MPI_Put(&v, 1, MPI_INT, 0, 0, 1, MPI_INT, win));
    REFUSED(MPI_Win_fence(0, win));
    REFUSED(MPI_Win_free(&win));
    REFUSED(MPI_File_open(comm, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    REFUSED(MPI_File_open(MPI_COMM_SELF, "/proc/nonexistent/none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    file = MPI_FILE_NULL;
    REFUSED(MPI_File_write(file, &v, 1, MPI_INT, MPI_STATUS_IGNORE));
    REFUSED(MPI_File_close(&file));
    REFUSED(MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, comm, &made, &code));
    REFUSED(MPI_Comm_spawn("none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 7, MPI_COMM_SELF, &made, &code));
}

static void refused_window(void)
{
    int rc, v = 0, w = 0;
    MPI_Win win;
    MPI_Win_create(&w, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_name(win, "window");
    MPI_Errhandler handler;
    MPI_Win_create_errhandler(win_handler, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    REFUSED(MPI_Put(&v, 1, MPI_INT, 99, 0, 1, MPI_INT, win));
    REFUSED(MPI_Get(&v, 1, MPI_DATATYPE_NULL, rank, 0, 1, MPI_INT, win));
    REFUSED(MPI_Accumulate(&v, -1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, win));
    MPI_Put(&v, 1, MPI_INT, rank, 0, 1, MPI_INT, win);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
    MPI_Errhandler_free(&handler);
}

static void refused(void)
{
    MPI_Errhandler handler, of_files;
    MPI_Comm_create_errhandler(comm_handler, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_File_create_errhandler(file_handler, &of_files);
    MPI_File_set_errhandler(MPI_FILE_NULL, of_files);
    refused_messages(MPI_COMM_NULL, MPI_INT, 1, 0);
    refused_messages(MPI_COMM_SELF, MPI_DATATYPE_NULL, 1, 0);
    refused_messages(MPI_COMM_SELF, MPI_INT, 1, 99);
    refused_messages(MPI_COMM_SELF, MPI_INT, -1, 0);
    if (!FATAL_ON(MPI_COMM_NULL)) refused_collectives(MPI_COMM_NULL, MPI_INT);
    refused_objects(MPI_COMM_NULL);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", argv[1], rank);
    output = fopen(name, "w");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size, left = (rank + size - 1) % size;
    freed_before();
    persistent();
    matched_and_cancelled();
    callbacks();
    types();
    if (size > 1) groups();
    refused_window();
    if (rank == 0) refused();
    MPI_Finalize();
    return output && fclose(output) == 0 ? 0 : 1;
}
