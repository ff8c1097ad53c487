/* profile_full.c: more phases and call sites than a profile has room for, in one process that ends by SIGKILL. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "include/mpitx.h"

enum { NAMES = 300 };

int main(int argc, char **argv)
{
    int value, flag;
    char name[MPI_MAX_OBJECT_NAME];
    double in = 1, out;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name, sizeof name, "phase %d", i);
        mpitx_phase_begin(name);
        MPI_Comm_rank(MPI_COMM_WORLD, &value);
        MPI_Comm_size(MPI_COMM_WORLD, &value);
        MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
        MPI_Comm_get_name(MPI_COMM_WORLD, name, &value);
        MPI_Type_size(MPI_INT, &value);
        MPI_Initialized(&flag);
        MPI_Finalized(&flag);
        MPI_Query_thread(&value);
        MPI_Is_thread_main(&flag);
        MPI_Barrier(MPI_COMM_SELF);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
        MPI_Send(&in, 1, MPI_DOUBLE, MPI_PROC_NULL, 0, MPI_COMM_SELF);
        MPI_Sendrecv(&in, 1, MPI_DOUBLE, 0, 0, &out, 1, MPI_DOUBLE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        mpitx_phase_end();
    }
    kill(getpid(), SIGKILL);
    return 0;
}
