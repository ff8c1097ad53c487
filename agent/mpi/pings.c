#include "mpi/pings.h"

#include "base/clock.h"
#include "mpi/handles.h"
#include "mpi/library.h"

#define ROUTINES(X)                                                                                                    \
    X(Comm_group) X(Group_incl) X(Group_rank) X(Comm_create_group) X(Group_free)                                       \
    X(Comm_set_errhandler) X(Comm_free) X(Send) X(Recv)

static struct {
#define X(name) __typeof__(MPI_##name) *name;
    ROUTINES(X)
#undef X
} mpi;

static MPI_Datatype byte;
static MPI_Errhandler returns;

static bool bind(void)
{
    bool all = true;
#define X(name) all = (mpi.name = (__typeof__(mpi.name))library_function("MPI_" #name)) && all;
    ROUTINES(X)
#undef X
#if defined(OPEN_MPI)
    byte = library_datum("ompi_mpi_byte");
    returns = library_datum("ompi_mpi_errors_return");
    return all && byte && returns;
#else
    byte = MPI_BYTE;
    returns = MPI_ERRORS_RETURN;
    return all;
#endif
}

struct answer {
    uint64_t received, answered;
};

/* A failed message changes nothing here: the other side counts on the next one. */
static void answer(MPI_Comm comm, int rank)
{
    struct answer times;
    char nothing;
    for (int i = 0; i < PINGS; i++) {
        (void)mpi.Recv(&nothing, 1, byte, rank, 0, comm, MPI_STATUS_IGNORE);
        times.received = clock_ticks();
        times.answered = clock_ticks();
        (void)mpi.Send(&times, sizeof times, byte, rank, 0, comm);
    }
}

static int ask(MPI_Comm comm, struct ping pings[PINGS])
{
    int done = 0;
    char nothing = 0;
    for (int i = 0; i < PINGS; i++) {
        struct answer times;
        uint64_t sent = clock_ticks();
        int failed = mpi.Send(&nothing, 1, byte, 0, 0, comm);
        failed |= mpi.Recv(&times, sizeof times, byte, 0, 0, comm, MPI_STATUS_IGNORE);
        uint64_t back = clock_ticks();
        if (!failed) pings[done++] = (struct ping){sent, times.received, times.answered, back};
    }
    return done;
}

static MPI_Comm make(const int *ranks, int count, int *rank)
{
    MPI_Group world = NULL_GROUP, members = NULL_GROUP;
    MPI_Comm comm = NULL_COMM;
    if (mpi.Comm_group(COMM_WORLD, &world) != MPI_SUCCESS) return NULL_COMM;
    if (mpi.Group_incl(world, count, (int *)ranks, &members) == MPI_SUCCESS) {
        if (mpi.Group_rank(members, rank) == MPI_SUCCESS && *rank >= 0 &&
            mpi.Comm_create_group(COMM_WORLD, members, 0, &comm) != MPI_SUCCESS)
            comm = NULL_COMM;
        mpi.Group_free(&members);
    }
    mpi.Group_free(&world);
    return comm;
}

int pings_exchange(const int *ranks, int count, struct ping pings[PINGS])
{
    int rank = -1, done = 0;
    if (!bind()) return 0;
    MPI_Comm comm = make(ranks, count, &rank);
    if (comm == NULL_COMM) return 0;
    if (mpi.Comm_set_errhandler(comm, returns) == MPI_SUCCESS) {
        if (rank != 0)
            done = ask(comm, pings);
        else
            for (int i = 1; i < count; i++) answer(comm, i);
    }
    mpi.Comm_free(&comm);
    return done;
}
