// A C++ exception thrown by an error handler through the MPI library and the wrapper.
#include <mpi.h>
#include <cstdio>
#include <stdexcept>

static void raise(MPI_Comm *, int *, ...) { throw std::runtime_error("left"); }

int main(int argc, char **argv)
{
    int value = 0, rank;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(raise, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (int i = 0; i < 2; i++) {
        try {
            MPI_Send(&value, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
        } catch (const std::exception &e) {
            std::puts(e.what());
        }
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    MPI_Finalize();
    return 0;
}
