/* known.c: rank 1 touches 4096 pages, and rank 2 sends 500 small messages in each direction of a TCP connection of its own. */
#include <arpa/inet.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void touch(void)
{
    size_t bytes = (size_t)4096 * 4096;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
}

static void talk(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), ends[2] = {socket(AF_INET, SOCK_STREAM, 0)};
    char byte = 0;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&address, &length) || connect(ends[0], (struct sockaddr *)&address, length) ||
        (ends[1] = accept(listener, NULL, NULL)) < 0)
        exit(9);
    for (int i = 0; i < 1000; i++)
        if (write(ends[i % 2], &byte, 1) != 1 || read(ends[!(i % 2)], &byte, 1) != 1) exit(9);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) touch();
    if (rank == 2) talk();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
