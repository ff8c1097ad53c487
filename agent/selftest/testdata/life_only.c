/* life_only.c: MPI_Init or MPI_Session_init, and nothing that needs it. */
#include <mpi.h>

int main(int argc, char **argv)
{
#ifdef SESSION
    MPI_Session session;
    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
#else
    return MPI_Init(&argc, &argv);
#endif
}
