/* triggered.c: sends to itself in threads, or in a session, for the tests of `mpitx run --when`: triggered threads|session. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

enum { THREADS = 4, MESSAGES = 50 };

static MPI_Comm comm;

static void exchange(int rank, int tag)
{
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, rank, tag, comm, &request);
    MPI_Send(&tag, 1, MPI_INT, rank, tag, comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void *run(void *tag)
{
    int rank;
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < MESSAGES; i++) exchange(rank, (int)(ptrdiff_t)tag);
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    if (argc > 1 && !strcmp(argv[1], "session")) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
        MPI_Comm_create_from_group(group, "triggered", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
        MPI_Group_free(&group);
        run((void *)1);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&session);
        return 0;
    }
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    comm = MPI_COMM_WORLD;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)(ptrdiff_t)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    MPI_Finalize();
    return 0;
}
