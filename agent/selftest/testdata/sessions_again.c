/* Opens sessions one after another, each after the last one has ended, one for each argument. */
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
