/* profile_peers.c: sends to as many ranks as its argument says, and prints its memory in KiB. Compiled twice: with -DCROWD, a library that
 * takes the place of MPI_Send, so that a job of one process can send to all of them. */
#include <mpi.h>

#ifdef CROWD

int MPI_Send(const void *data, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return MPI_SUCCESS;
}

#else

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { MESSAGES = 20000 };
    int out = 1, peers = atoi(argv[1]);
    char line[256];
    long kib = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < MESSAGES; i++) MPI_Send(&out, 1, MPI_INT, i % peers, 0, MPI_COMM_WORLD);
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &kib);
    printf("%ld\n", kib);
    MPI_Finalize();
    return 0;
}

#endif
