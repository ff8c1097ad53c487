/* profile_phases.c: phases, also in threads, and too many of them; in C and C++. One process. */
#include "include/mpitx.h"

#include <pthread.h>
#include <stdio.h>

static void *work(void *argument)
{
    int flag;
    MPI_Initialized(&flag); /* in the main thread's phase */
    mpitx_phase_begin("own");
    MPI_Initialized(&flag);
    mpitx_phase_end();
    mpitx_phase_end(); /* one too many */
    MPI_Initialized(&flag);
    return argument;
}

int main(int argc, char **argv)
{
    int provided, flag;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    mpitx_phase_begin("main");
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 30; i++) mpitx_phase_begin("deep");
    MPI_Initialized(&flag);
    for (int i = 0; i < 30; i++) mpitx_phase_end();
    MPI_Initialized(&flag);
    mpitx_phase_end();
    MPI_Initialized(&flag);
    for (int i = 0; i < 300; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        mpitx_phase_begin(name);
        mpitx_phase_end();
    }
    puts("done");
    MPI_Finalize();
    return 0;
}
