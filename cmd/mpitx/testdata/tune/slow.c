/* slow.c VARIABLE VALUE [fail]: takes 1.5 s longer if the library has this value of a control variable, whatever else the machine
 * does. Calls MPI_Barrier and sends messages to the next rank. With fail, it fails if the variable has another value. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* value is the value of a control variable of type int or bool; -1 if the library has none. */
static int value(const char *name)
{
    int index, count, provided, found = -1;
    MPI_T_cvar_handle handle;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    if (MPI_T_cvar_get_index(name, &index) == MPI_SUCCESS && MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
        MPI_T_cvar_read(handle, &found);
        MPI_T_cvar_handle_free(&handle);
    }
    MPI_T_finalize();
    return found;
}

int main(int argc, char **argv)
{
    int rank, size, bad;
    char out[4096] = {0}, in[4096];
    MPI_Init(&argc, &argv);
    bad = argc > 2 && value(argv[1]) == atoi(argv[2]); /* before MPI_Init, MPICH 4.0 crashes then in MPI_Init */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 3 && !bad) return 3;
    for (int k = 0; k < 50; k++) {
        if (bad) usleep(30000);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
