#include "mpi/pings.h"

#include "base/clock.h"
#include "mpi/handles.h"
#include "mpi/library.h"

#define ROUTINES(X) X(Comm_split) X(Comm_set_errhandler) X(Comm_rank) X(Comm_size) X(Comm_free) X(Send) X(Recv)

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

int pings_exchange(bool takes_part, struct ping pings[PINGS])
{
    MPI_Comm comm = NULL_COMM;
    int rank = 0, size = 0, done = 0;
    if (!bind() || mpi.Comm_rank(COMM_WORLD, &rank) != MPI_SUCCESS ||
        mpi.Comm_split(COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank, &comm) != MPI_SUCCESS || comm == NULL_COMM)
        return 0;
    if (mpi.Comm_set_errhandler(comm, returns) == MPI_SUCCESS && mpi.Comm_size(comm, &size) == MPI_SUCCESS) {
        if (rank != 0)
            done = ask(comm, pings);
        else
            for (int i = 1; i < size; i++) answer(comm, i);
    }
    mpi.Comm_free(&comm);
    return done;
}
