/* Reads a file a hundred times; ROMIO queries attributes in each read. */
#include <mpi.h>

int main(int argc, char **argv)
{
    MPI_File file;
    char bytes[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, bytes, sizeof bytes, MPI_CHAR, MPI_STATUS_IGNORE);
    for (int i = 0; i < 100; i++) MPI_File_read_at_all(file, i, bytes, 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
