/* Sends five messages to itself, three of them by large-count functions if the library has them. */
#include <mpi.h>

#if MPI_VERSION < 4
#define MPI_Send_c MPI_Send
#define MPI_Irecv_c MPI_Irecv
#endif

int main(int argc, char **argv)
{
    char out[10] = {0}, in[10];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; i++) {
        if (i < 3)
            MPI_Irecv_c(in, 10, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
        else
            MPI_Irecv(in, 10, MPI_CHAR, 0, 0, MPI_COMM_SELF, &request);
        if (i < 3)
            MPI_Send_c(out, 10, MPI_CHAR, 0, 0, MPI_COMM_SELF);
        else
            MPI_Send(out, 10, MPI_CHAR, 0, 0, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
