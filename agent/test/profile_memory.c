/* profile_memory.c: prints the memory of a process that had many requests, in KiB. */
#include <mpi.h>
#include <stdio.h>

enum { REQUESTS = 1000 };

int main(int argc, char **argv)
{
    static MPI_Request requests[2 * REQUESTS];
    static int in[REQUESTS], out[REQUESTS];
    char line[256];
    long kib = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < REQUESTS; i++) MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < REQUESTS; i++) MPI_Isend(&out[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[REQUESTS + i]);
    MPI_Waitall(2 * REQUESTS, requests, MPI_STATUSES_IGNORE);
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &kib);
    printf("%ld\n", kib);
    MPI_Finalize();
    return 0;
}
