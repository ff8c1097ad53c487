/* Opens sessions one after the other, each when the last one has ended, as often as it has arguments. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_Session session;
    (void)argv;
    for (int i = 1; i < argc; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
        MPI_Session_finalize(&session);
    }
    return 0;
}
