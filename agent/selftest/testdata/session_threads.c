/* session_threads THREADS [world]: threads open and finalize a session each, concurrently. With "world", also MPI_Init, and MPI_Finalize
 * before the sessions end. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if MPI_VERSION >= 4
static pthread_barrier_t barrier;

static void *run(void *unused)
{
    MPI_Session session;
    MPI_Group group;
    int rank;
    (void)unused;
    pthread_barrier_wait(&barrier);
    if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) != MPI_SUCCESS) exit(2);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    for (int i = 0; i < 100; i++) MPI_Group_rank(group, &rank);
    MPI_Group_free(&group);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    if (MPI_Session_finalize(&session) != MPI_SUCCESS) exit(3);
    return NULL;
}
#endif

int main(int argc, char **argv)
{
#if MPI_VERSION >= 4
    int threads = atoi(argv[1]), world = argc > 2, level;
    pthread_t thread[64];
    if (world) MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads + 1);
    for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, run, NULL);
    for (int i = 0; i < 3; i++) {
        pthread_barrier_wait(&barrier);
        if (world && i == 1) MPI_Finalize();
    }
    for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
#endif
    puts("done");
    return 0;
}
