/* Reads past the end of a file. One process. */
#include <mpi.h>

enum { THERE = 100, ASKED = 4000 };
#ifdef OPEN_MPI /* which waits for the missing bytes forever */
enum { ASKED_LATER = THERE };
#else
enum { ASKED_LATER = ASKED };
#endif

int main(int argc, char **argv)
{
    MPI_File file;
    MPI_Request requests[2];
    char bytes[ASKED] = {0};
    MPI_Init(&argc, &argv);
    MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 0, bytes, THERE / 2, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_write_at_all_begin(file, THERE / 2, bytes, THERE / 2, MPI_CHAR);
    MPI_File_write_at_all_end(file, bytes, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 0, bytes, THERE, MPI_CHAR, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, bytes, ASKED, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 0, bytes, ASKED_LATER, MPI_CHAR, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 0, bytes, ASKED_LATER, MPI_CHAR, &requests[0]);
    MPI_File_iread_at(file, THERE - 10, bytes, 10, MPI_CHAR, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_File_read_at_all_begin(file, 0, bytes, ASKED_LATER, MPI_CHAR);
    MPI_File_read_at_all_end(file, bytes, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
