/* The workload and the callback of the rules about PERUSE. mpitx check has this text in its binary, too, for the programs that it
 * writes. */
#include <stdint.h>
#include <string.h>

enum { PERUSE_MESSAGES = 3 }; /* of each kind */
static int peruse_out[2 * PERUSE_MESSAGES], peruse_in[2 * PERUSE_MESSAGES];

#ifndef PERUSE_WATCHES
#define PERUSE_WATCHES 4
#endif
static struct peruse_watch {
    peruse_event_h handle;
    int event, request, lock; /* the event; whether it has a request; whether the callback takes the lock */
    int begins, ends;         /* whether it begins or ends the use of an identifier */
    int calls, receives;      /* callbacks, and those for a receive */
    int others, wrong;        /* callbacks with another handle or event, and with another request than the program made */
    int refused;              /* times that the lock was refused */
} peruse_watch[PERUSE_WATCHES];

static struct {
    MPI_Aint id[64]; /* between their first and last event */
    int num, twice, unknown;
} peruse_ids;

static int peruse_id_at(MPI_Aint id)
{
    int at = 0;
    while (at < peruse_ids.num && peruse_ids.id[at] != id) at++;
    return at;
}

static void peruse_id_begins(MPI_Aint id)
{
    if (peruse_id_at(id) < peruse_ids.num) peruse_ids.twice++;
    else if (peruse_ids.num < 64) peruse_ids.id[peruse_ids.num++] = id;
}

static void peruse_id_ends(MPI_Aint id)
{
    int at = peruse_id_at(id);
    if (at == peruse_ids.num) peruse_ids.unknown++;
    else peruse_ids.id[at] = peruse_ids.id[--peruse_ids.num];
}

#ifndef PERUSE_OF_WORLD
#define PERUSE_OF_WORLD(spec) ((spec)->comm == MPI_COMM_WORLD)
#endif

static int peruse_wrong(peruse_comm_spec_t *spec)
{
    const int *buf = spec->operation == PERUSE_RECV ? peruse_in : peruse_out;
    return !PERUSE_OF_WORLD(spec) || (spec->operation != PERUSE_SEND && spec->operation != PERUSE_RECV) || spec->peer != 0 || spec->tag < 0 ||
           spec->tag >= 2 * PERUSE_MESSAGES || spec->count != (int)sizeof *buf || spec->datatype != MPI_BYTE || spec->buf != buf + spec->tag;
}

static int peruse_called(peruse_event_h handle, MPI_Aint id, peruse_comm_spec_t *spec, void *param)
{
    struct peruse_watch *it = param;
    int event = -42;
    it->calls++;
    it->receives += spec->operation == PERUSE_RECV;
    it->others += handle != it->handle || PERUSE_Event_get(handle, &event) != 0 || event != it->event;
    if (it->request) it->wrong += peruse_wrong(spec);
    if (it->begins) peruse_id_begins(id);
    if (it->ends) peruse_id_ends(id);
#ifdef PERUSE_LOCKS
    if (it->lock) it->refused += PERUSE_Lock() != 0 || PERUSE_Unlock() != 0;
#endif
    return 0;
}

/* The process sends itself messages, first such that wait for their receives, then such whose receives wait for them. */
static int peruse_work(MPI_Comm comm)
{
    MPI_Request sends[2 * PERUSE_MESSAGES], receives[2 * PERUSE_MESSAGES];
    int n = 2 * PERUSE_MESSAGES, size = (int)sizeof peruse_out[0];
    for (int i = 0; i < n / 2; i++) MPI_Isend(&peruse_out[i], size, MPI_BYTE, 0, i, comm, &sends[i]);
    for (int i = 0; i < n; i++) MPI_Irecv(&peruse_in[i], size, MPI_BYTE, 0, i, comm, &receives[i]);
    for (int i = n / 2; i < n; i++) MPI_Isend(&peruse_out[i], size, MPI_BYTE, 0, i, comm, &sends[i]);
    for (int i = 0; i < n; i++) MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < n; i++) MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    return 0;
}
