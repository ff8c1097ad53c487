/* windows.c: jobs that wait for each other by windows, files and communicators, for the tests of `mpitx where`: windows DIR KIND… Each kind has
 * three ranks, with a communicator of their own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *dir;
static MPI_Comm comm;
static MPI_Win win;
static int me, *memory, one = 1;

static void compute(void)
{
    for (volatile long i = 0;; i++) continue;
}

static void wait_for(int rank)
{
    MPI_Recv(&one, 1, MPI_INT, rank, 1, comm, MPI_STATUS_IGNORE);
}

/* Takes a lock of rank 0; it is known to hold it when this returns. */
static void hold(int type)
{
    MPI_Win_lock(type, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_flush(0, win);
}

static void take(int type)
{
    hold(type);
    MPI_Win_unlock(0, win);
}

/* ---- that hang ---- */

static void lock(void) /* 1 holds the lock of 0 in a barrier that 2 reaches only after it has had the lock */
{
    if (me == 1) hold(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(comm);
    if (me == 2) take(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(comm);
}

static void start(void) /* 1 waits for a message before it posts */
{
    MPI_Group all, group;
    int other = !me;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, 1, &other, &group);
    for (int i = 0; i < 2; i++) {
        if (me == 0) {
            MPI_Win_start(group, 0, win);
            MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
            MPI_Win_complete(win);
        } else if (me == 1) {
            if (i == 1) wait_for(0);
            MPI_Win_post(group, 0, win);
            MPI_Win_wait(win);
        }
    }
    MPI_Barrier(comm);
}

static void across(void)
{
    MPI_Comm fluid, solid;
    MPI_Comm_dup(comm, &fluid);
    MPI_Comm_dup(comm, &solid);
    MPI_Comm_set_name(fluid, "fluid");
    MPI_Comm_set_name(solid, "solid");
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_MAX, me == 2 ? solid : fluid);
}

static void fence(void)
{
    for (int i = 0; i < (me == 1 ? 3 : 4); i++) MPI_Win_fence(0, win);
    MPI_Barrier(comm);
}

static void polls(void) /* 1 would set the flag after the barrier */
{
    int found = 0, none = 0;
    MPI_Win_lock_all(0, win);
    if (me == 0)
        while (!found) {
            MPI_Fetch_and_op(&none, &found, MPI_INT, 1, 0, MPI_NO_OP, win);
            MPI_Win_flush(1, win);
        }
    MPI_Barrier(comm);
}

static void gets(void) /* the same by a lock for each read */
{
    int found = 0;
    while (me == 0 && !found) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Get(&found, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(comm);
}

/* ---- that would end if the computing ranks did ---- */

static void slow(void) /* 1 holds the lock and computes */
{
    if (me == 1) hold(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(comm);
    if (me == 1) compute();
    if (me == 2) take(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(comm);
}

static void absent(void) /* the target computes, and nobody holds its lock */
{
    MPI_Barrier(comm);
    if (me == 0) compute();
    take(MPI_LOCK_EXCLUSIVE);
    MPI_Barrier(comm);
}

static void shared(void) /* 0 and 1 share the lock; 0 reads it and waits for 1, which computes */
{
    if (me < 2) hold(MPI_LOCK_SHARED);
    MPI_Barrier(comm);
    if (me == 1) compute();
    if (me == 0) wait_for(1);
    take(MPI_LOCK_EXCLUSIVE);
}

static void late(void) /* 1 computes before it posts */
{
    if (me == 1) compute();
    start();
}

static void count(void) /* all get numbers from 0, for ever */
{
    int number;
    MPI_Win_lock_all(0, win);
    for (;;) {
        MPI_Fetch_and_op(&one, &number, MPI_INT, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
}

/* ---- files; some libraries are built without them ---- */

#ifdef MPI_MODE_WRONLY
static void file(void) /* one writes once more than the others */
{
    double data[100] = {0};
    char name[4096];
    MPI_File f;
    snprintf(name, sizeof name, "%s/plot.out", dir);
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    for (int i = 0; i < (me == 0 ? 2 : 1); i++) MPI_File_write_at_all(f, (me * 2 + i) * (MPI_Offset)sizeof data, data, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&f);
}

static void closes(void) /* 0 computes before it closes the file */
{
    char name[4096];
    MPI_File f;
    snprintf(name, sizeof name, "%s/closed.out", dir);
    MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
    if (me == 0) compute();
    MPI_File_close(&f);
}
#else
static void file(void) { }
static void closes(void) { }
#endif

/* ---- a spawned job ---- */

static int spawned(const char *kind, char **argv) /* the workers enter two barriers, the parent one */
{
    MPI_Comm parent, workers;
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &workers, MPI_ERRCODES_IGNORE);
        MPI_Barrier(workers);
        MPI_Recv(&one, 1, MPI_INT, 0, 1, workers, MPI_STATUS_IGNORE);
    } else {
        MPI_Barrier(parent);
        if (strcmp(kind, "spawnslow") == 0) compute();
        MPI_Barrier(parent);
        MPI_Send(&one, 1, MPI_INT, 0, 1, parent);
    }
    MPI_Finalize();
    return 0;
}

static const struct {
    const char *name;
    void (*run)(void);
} kinds[] = {{"lock", lock}, {"start", start}, {"across", across}, {"fence", fence}, {"polls", polls}, {"gets", gets}, {"file", file},
             {"slow", slow}, {"absent", absent}, {"shared", shared}, {"late", late}, {"closes", closes}, {"count", count}};

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    if (argc == 3 && strncmp(argv[2], "spawn", 5) == 0) return spawned(argv[2], argv);
    dir = argv[1];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 3, rank, &comm);
    MPI_Comm_rank(comm, &me);
    for (int group = 0; group <= size / 3; group++) { /* Open MPI 4.1 names the shared memory of all groups of a split alike */
        if (rank / 3 == group) MPI_Win_allocate(sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, &memory, &win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    *memory = 0;
    const char *kind = rank / 3 + 2 < argc ? argv[rank / 3 + 2] : "";
    MPI_Win_set_name(win, kind);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, kind) == 0) kinds[i].run();
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
