/* profile_known.c: calls, messages, bytes, peers, phases and call sites with known numbers, for two processes.
 * profile_known FILE [kill]: with kill, it ends by SIGKILL instead of MPI_Finalize. Rank 0 prints the functions that call MPI_Barrier. */
#define _GNU_SOURCE
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/mpitx.h"

static char out[4096], in[4096];
static int rank, other;

__attribute__((noinline)) static void first_site(int n)
{
    for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}

__attribute__((noinline)) static void second_site(int n)
{
    for (int i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    __asm__ volatile("");
}

static void requests(MPI_Comm reversed)
{
    MPI_Request both[2];
    for (int i = 0; i < 7; i++) {
        MPI_Irecv(in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(out, 8, MPI_CHAR, other, 1, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
    /* Ranks are reversed: the other process has this process's rank in MPI_COMM_WORLD. */
    MPI_Recv_init(in, sizeof in, MPI_CHAR, rank, 2, reversed, &both[0]);
    MPI_Send_init(out, 33, MPI_CHAR, rank, 2, reversed, &both[1]);
    for (int i = 0; i < 6; i++) {
        MPI_Startall(2, both);
        MPI_Wait(&both[0], MPI_STATUS_IGNORE);
        MPI_Wait(&both[1], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&both[0]);
    MPI_Request_free(&both[1]);
    for (int i = 0; i < 4; i++) {
        if (rank == 0) MPI_Ssend(out, 1000, MPI_CHAR, 0, 3, reversed);
        if (rank == 1) MPI_Recv(in, sizeof in, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, reversed, MPI_STATUS_IGNORE);
    }
    MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Send(out, 5, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void window(MPI_Comm comm)
{
    MPI_Win win;
    char *memory;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win);
    MPI_Win_set_name(win, "pane");
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3 && rank == 0; i++) MPI_Put(out, 16, MPI_CHAR, 1, 0, 16, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 2 && rank == 0; i++) MPI_Get(in, 8, MPI_CHAR, 1, 0, 8, MPI_CHAR, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void file(MPI_Comm comm, const char *name)
{
    MPI_File file;
    MPI_File_open(comm, (char *)name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank * 10, out, 10, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(comm);
    MPI_File_read_at(file, 0, in, 20, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    int numbers[4] = {0}, sums[4];
    MPI_Comm named, reversed, none;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    mpitx_phase_begin("warm");
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(out, 100, MPI_CHAR, other, 0, in, 100, MPI_CHAR, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mpitx_phase_begin("inner");
    first_site(1);
    mpitx_phase_end();
    mpitx_phase_end();
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, 0, &none);
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "mine");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
    for (int i = 0; i < 5; i++) MPI_Allreduce(numbers, sums, 4, MPI_INT, MPI_SUM, named);
    first_site(2);
    second_site(3);
    requests(reversed);
    window(named);
    file(named, argv[1]);
    MPI_Pcontrol(0);
    first_site(10);
    MPI_Pcontrol(1);
    MPI_Pcontrol(7);
    second_site(1);
    MPI_Pcontrol(1);
    MPI_Comm_free(&reversed);
    if (rank == 0) printf("sites %lu %lu\n", (unsigned long)first_site, (unsigned long)second_site);
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "kill") == 0) {
        MPI_Barrier(named);
        kill(getpid(), SIGKILL);
    }
    MPI_Finalize();
    return 0;
}
