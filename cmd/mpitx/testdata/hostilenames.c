/* Names of a communicator and a phase that act on a terminal. */
#include <mpi.h>

#include "../../../agent/include/mpitx.h"

#define NAME "evil\033[2J\033]0;owned\007\r\t\x9b" "31m\xe2\x80\xae" "end"

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, NAME);
    mpitx_phase_begin(NAME);
    for (int i = 0; i < 10; i++) MPI_Barrier(comm);
    mpitx_phase_end();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
