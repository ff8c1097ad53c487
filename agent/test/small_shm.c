/* small_shm KIB: maps that much of /dev/shm after some MPI calls and touches it, as an MPI library does with its shared memory. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char path[64];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    size_t bytes = (size_t)atoi(argv[1]) << 10;
    snprintf(path, sizeof path, "/dev/shm/small_shm.%d", (int)getpid());
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (ftruncate(fd, (off_t)bytes) != 0) return 1;
    char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(p, 1, bytes);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(path);
    printf("touched\n");
    return MPI_Finalize();
}
