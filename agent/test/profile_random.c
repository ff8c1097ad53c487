/* profile_random.c: random communication that counts itself: profile_random FILE SEED THREADS. All processes draw the same numbers, so
 * each knows what the others do. Each thread has its own communicators. Process r writes FILE.r, with lines
 *     calls FUNCTION NUMBER
 *     peer RANK ONESIDED SENT BYTES RECEIVED BYTES      in ranks of MPI_COMM_WORLD
 *     moved GAVE GOT                                     bytes of collectives, one-sided operations and files */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 300, COMMS = 4, MOST = 3000, NAMES = 64, PROCESSES = 8, THREADS = 4 };

struct counts {
    struct {
        const char *name;
        long calls;
    } functions[NAMES];
    struct {
        long sent, sent_bytes, received, received_bytes;
    } peers[2][PROCESSES];
    long gave, got;
};

struct worker {
    struct counts counts;
    uint64_t random;
    const char *file;
    int number, step, rank, size; /* its own number; the step, which is the tag of its message; in MPI_COMM_WORLD */
    MPI_Comm comms[COMMS];
    int sizes[COMMS], own[COMMS], worlds[COMMS][PROCESSES]; /* of each communicator: size, own rank, ranks in MPI_COMM_WORLD */
    char out[MOST + 1], in[2 * MOST];
};

static int draw(struct worker *w, int n)
{
    w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((w->random >> 33) % (uint64_t)n);
}

static void count(struct worker *w, const char *name)
{
    int i = 0;
    while (w->counts.functions[i].name && strcmp(w->counts.functions[i].name, name) != 0) i++;
    w->counts.functions[i].name = name;
    w->counts.functions[i].calls++;
}

#define CALL(name, ...) (count(w, "MPI_" #name), MPI_##name(__VA_ARGS__))

static void sent(struct worker *w, int comm, int to, int bytes, int onesided)
{
    w->counts.peers[onesided][w->worlds[comm][to]].sent++;
    w->counts.peers[onesided][w->worlds[comm][to]].sent_bytes += bytes;
}

static void received(struct worker *w, int comm, int from, int bytes, int onesided)
{
    w->counts.peers[onesided][w->worlds[comm][from]].received++;
    w->counts.peers[onesided][w->worlds[comm][from]].received_bytes += bytes;
}

/* ---- messages from one process to another ---- */

static void send_one(struct worker *w, int c, int how, int to, int bytes)
{
    MPI_Request request;
    MPI_Comm comm = w->comms[c];
    switch (how) {
    case 0: CALL(Send, w->out, bytes, MPI_CHAR, to, w->step, comm); break;
    case 1: CALL(Ssend, w->out, bytes, MPI_CHAR, to, w->step, comm); break;
    case 2:
        CALL(Isend, w->out, bytes, MPI_CHAR, to, w->step, comm, &request);
        CALL(Wait, &request, MPI_STATUS_IGNORE);
        break;
    case 3:
        CALL(Issend, w->out, bytes, MPI_CHAR, to, w->step, comm, &request);
        for (int done = 0; !done;) CALL(Test, &request, &done, MPI_STATUS_IGNORE);
        break;
    case 4:
        CALL(Send_init, w->out, bytes, MPI_CHAR, to, w->step, comm, &request);
        CALL(Start, &request);
        CALL(Wait, &request, MPI_STATUS_IGNORE);
        CALL(Request_free, &request);
        break;
    default: CALL(Sendrecv, w->out, bytes, MPI_CHAR, to, w->step, w->in, 1, MPI_CHAR, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
    }
    sent(w, c, to, bytes, 0);
}

/* The buffer is larger than the message. */
static void receive_one(struct worker *w, int c, int how, int from, int bytes)
{
    MPI_Request request;
    MPI_Message message;
    MPI_Status status;
    MPI_Comm comm = w->comms[c];
    int source = how % 2 ? from : MPI_ANY_SOURCE, index, done = 0;
    switch (how / 2) {
    case 0: CALL(Recv, w->in, sizeof w->in, MPI_CHAR, source, source == MPI_ANY_SOURCE ? w->step : MPI_ANY_TAG, comm, MPI_STATUS_IGNORE); break;
    case 1:
        CALL(Irecv, w->in, sizeof w->in, MPI_CHAR, source, w->step, comm, &request);
        CALL(Waitany, 1, &request, &index, MPI_STATUS_IGNORE);
        break;
    case 2:
        CALL(Irecv, w->in, sizeof w->in, MPI_CHAR, source, w->step, comm, &request);
        while (!done) CALL(Testall, 1, &request, &done, MPI_STATUSES_IGNORE);
        break;
    case 3:
        CALL(Recv_init, w->in, sizeof w->in, MPI_CHAR, source, w->step, comm, &request);
        CALL(Startall, 1, &request);
        CALL(Waitsome, 1, &request, &done, &index, MPI_STATUSES_IGNORE);
        CALL(Request_free, &request);
        break;
    case 4:
        CALL(Mprobe, source, w->step, comm, &message, &status);
        CALL(Mrecv, w->in, bytes, MPI_CHAR, &message, MPI_STATUS_IGNORE);
        break;
    default:
        CALL(Probe, source, w->step, comm, &status);
        CALL(Recv, w->in, sizeof w->in, MPI_CHAR, status.MPI_SOURCE, w->step, comm, &status);
    }
    received(w, c, from, bytes, 0);
}

static void message(struct worker *w, int c)
{
    int from = draw(w, w->sizes[c]), to = draw(w, w->sizes[c]), bytes = draw(w, MOST), how = draw(w, 6), other = draw(w, 12);
    if (from == to) return;
    if (w->own[c] == from) send_one(w, c, how, to, bytes);
    if (w->own[c] == to) receive_one(w, c, other, from, bytes);
}

/* Every process sends to its neighbor, and to itself. */
static void ring(struct worker *w, int c)
{
    int size = w->sizes[c], own = w->own[c], bytes = draw(w, MOST);
    int to = (own + 1) % size, from = (own + size - 1) % size;
    MPI_Request requests[4];
    CALL(Irecv, w->in, bytes, MPI_CHAR, from, STEPS + 1, w->comms[c], &requests[0]);
    CALL(Irecv, w->in + MOST, MOST, MPI_CHAR, own, STEPS + 2, w->comms[c], &requests[1]);
    CALL(Isend, w->out, bytes, MPI_CHAR, to, STEPS + 1, w->comms[c], &requests[2]);
    CALL(Isend, w->out, 5, MPI_CHAR, own, STEPS + 2, w->comms[c], &requests[3]);
    CALL(Waitall, 4, requests, MPI_STATUSES_IGNORE);
    sent(w, c, to, bytes, 0);
    sent(w, c, own, 5, 0);
    received(w, c, from, bytes, 0);
    received(w, c, own, 5, 0);
}

/* ---- collectives, windows, files ---- */

static void collective(struct worker *w, int c)
{
    int size = w->sizes[c], own = w->own[c], bytes = draw(w, MOST / PROCESSES), root = draw(w, size), kind = draw(w, 4);
    MPI_Request request;
    if (kind == 0) {
        CALL(Bcast, w->out, bytes, MPI_CHAR, root, w->comms[c]);
        *(own == root ? &w->counts.gave : &w->counts.got) += bytes;
    } else if (kind == 1) {
        CALL(Iallreduce, MPI_IN_PLACE, w->in, bytes, MPI_UNSIGNED_CHAR, MPI_MAX, w->comms[c], &request);
        CALL(Wait, &request, MPI_STATUS_IGNORE);
        w->counts.gave += bytes;
        w->counts.got += bytes;
    } else if (kind == 2) {
        CALL(Gather, w->out, bytes, MPI_CHAR, w->in, bytes, MPI_CHAR, root, w->comms[c]);
        w->counts.gave += bytes;
        w->counts.got += own == root ? bytes * size : 0;
    } else {
        CALL(Alltoall, w->out, bytes, MPI_CHAR, w->in, bytes, MPI_CHAR, w->comms[c]);
        w->counts.gave += bytes * size;
        w->counts.got += bytes * size;
    }
}

static void window(struct worker *w, int c)
{
    int size = w->sizes[c], put = 1 + draw(w, 100), get = 1 + draw(w, 100), target = (w->own[c] + 1) % size;
    MPI_Win win;
    char *memory;
    if (c > 1 || size == 1) return; /* Open MPI 4.1 mixes up windows of two communicators that were split at once */
    CALL(Win_allocate, 256, 1, MPI_INFO_NULL, w->comms[c], &memory, &win);
    CALL(Win_fence, 0, win);
    CALL(Put, w->out, put, MPI_CHAR, target, 0, put, MPI_CHAR, win);
    CALL(Get, w->in, get, MPI_CHAR, target, 128, get, MPI_CHAR, win);
    CALL(Win_fence, 0, win);
    CALL(Win_free, &win);
    sent(w, c, target, put, 1);
    received(w, c, target, get, 1);
    w->counts.gave += put;
    w->counts.got += get;
}

static void file(struct worker *w, int c)
{
    int bytes = 1 + draw(w, 100), own = w->own[c];
    char name[4096];
    MPI_File file;
    snprintf(name, sizeof name, "%s.data%d.%d.%d", w->file, w->number, c, w->worlds[c][0]);
    CALL(File_open, w->comms[c], name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    CALL(File_write_at, file, own * bytes, w->out, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    CALL(File_read_at, file, own * bytes, w->in, bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    CALL(File_close, &file);
    w->counts.gave += bytes;
    w->counts.got += bytes;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    for (w->step = 0; w->step < STEPS; w->step++) {
        int c = draw(w, COMMS), what = draw(w, 40);
        if (what < 24) message(w, c);
        else if (what < 32) ring(w, c);
        else if (what < 39) collective(w, c);
        else if (w->number > 0) continue; /* Open MPI's windows and files do not work in several threads */
        else if (draw(w, 2)) window(w, c);
        else file(w, c);
        if (w->step % 20 == 0) CALL(Barrier, w->comms[0]);
    }
    return NULL;
}

/* ---- start and end ---- */

/* The calls of this part count for the worker, too. */
static void make_comms(struct worker *w)
{
    MPI_Group all, group;
    CALL(Comm_dup, MPI_COMM_WORLD, &w->comms[0]);
    CALL(Comm_split, MPI_COMM_WORLD, 0, -w->rank, &w->comms[1]);
    CALL(Comm_split, MPI_COMM_WORLD, w->rank % 2, -w->rank, &w->comms[2]);
    CALL(Comm_dup, w->comms[2], &w->comms[3]);
    CALL(Comm_group, MPI_COMM_WORLD, &all);
    for (int c = 0; c < COMMS; c++) {
        int ranks[PROCESSES];
        CALL(Comm_size, w->comms[c], &w->sizes[c]);
        CALL(Comm_rank, w->comms[c], &w->own[c]);
        CALL(Comm_group, w->comms[c], &group);
        for (int i = 0; i < PROCESSES; i++) ranks[i] = i;
        CALL(Group_translate_ranks, group, w->sizes[c], ranks, all, w->worlds[c]);
        CALL(Group_free, &group);
    }
    CALL(Group_free, &all);
}

static void write_counts(const struct worker *workers, int threads)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", workers->file, workers->rank);
    FILE *f = fopen(name, "w");
    for (const struct worker *w = workers; f && w < workers + threads; w++) {
        for (int i = 0; w->counts.functions[i].name; i++) fprintf(f, "calls %s %ld\n", w->counts.functions[i].name, w->counts.functions[i].calls);
        for (int k = 0; k < 2 * PROCESSES; k++) {
            const long *n = &w->counts.peers[k % 2][k / 2].sent;
            if (n[0] || n[2]) fprintf(f, "peer %d %d %ld %ld %ld %ld\n", k / 2, k % 2, n[0], n[1], n[2], n[3]);
        }
        fprintf(f, "moved %ld %ld\n", w->counts.gave, w->counts.got);
    }
    if (f) fclose(f);
}

int main(int argc, char **argv)
{
    static struct worker workers[THREADS];
    pthread_t handles[THREADS];
    int provided, threads = atoi(argv[3]);
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    for (struct worker *w = workers; w < workers + threads; w++) {
        w->number = (int)(w - workers);
        w->file = argv[1];
        w->random = strtoull(argv[2], NULL, 10) * THREADS + (uint64_t)w->number;
        if (w == workers) count(w, "MPI_Init_thread");
        CALL(Comm_rank, MPI_COMM_WORLD, &w->rank);
        CALL(Comm_size, MPI_COMM_WORLD, &w->size);
        make_comms(w);
    }
    for (int i = 1; i < threads; i++) pthread_create(&handles[i], NULL, work, &workers[i]);
    work(&workers[0]);
    for (int i = 1; i < threads; i++) pthread_join(handles[i], NULL);
    count(&workers[0], "MPI_Finalize");
    write_counts(workers, threads);
    MPI_Finalize();
    return 0;
}
