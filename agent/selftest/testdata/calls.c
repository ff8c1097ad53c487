/* Every kind of traffic, in known numbers. Two processes. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, flag, index, value = 0, values[64] = {0}, others[64] = {0};
    MPI_Request requests[20];
    MPI_Status status, statuses[20];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int peer = 1 - rank;
    if (size != 2) MPI_Abort(MPI_COMM_WORLD, 2);

    /* 10 messages of 4 bytes each way, blocking: status used and ignored */
    for (int i = 0; i < 10; i++) {
        if (rank == 0) {
            MPI_Send(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, i % 2 ? &status : MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(values, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, i % 2 ? &status : MPI_STATUS_IGNORE);
            MPI_Send(&value, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
        }
    }
    /* 20 requests: 10 sends of 8 bytes, 10 receives into larger buffers; Waitall over many, statuses ignored */
    for (int i = 0; i < 10; i++) {
        MPI_Irecv(&values[4 * i], 4, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(others, 2, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[10 + i]);
    }
    MPI_Waitall(20, requests, MPI_STATUSES_IGNORE);
    /* Wait, Waitany, Waitsome, Test, Testany, Testall, Testsome: one receive of 4 bytes and one send each */
    for (int i = 0; i < 7; i++) {
        int done = 0, indices[2], outcount;
        MPI_Irecv(values, 4, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(others, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &requests[1]);
        switch (i) {
        case 0: MPI_Wait(&requests[0], MPI_STATUS_IGNORE); MPI_Wait(&requests[1], &status); break;
        case 1: for (; done < 2; done++) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE); break;
        case 2: while (done < 2) { MPI_Waitsome(2, requests, &outcount, indices, MPI_STATUSES_IGNORE); done += outcount; } break;
        case 3: for (int j = 0; j < 2; j++) do MPI_Test(&requests[j], &flag, MPI_STATUS_IGNORE); while (!flag); break;
        case 4: while (done < 2) { MPI_Testany(2, requests, &index, &flag, &status); done += flag; } break;
        case 5: do MPI_Testall(2, requests, &flag, statuses); while (!flag); break;
        case 6: while (done < 2) { MPI_Testsome(2, requests, &outcount, indices, statuses); done += outcount; } break;
        }
    }
    /* persistent: 3 rounds of 16 bytes */
    MPI_Recv_init(values, 8, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(others, 4, MPI_INT, peer, 4, MPI_COMM_WORLD, &requests[1]);
    for (int i = 0; i < 3; i++) {
        if (i == 0) {
            MPI_Start(&requests[0]);
            MPI_Start(&requests[1]);
        } else {
            MPI_Startall(2, requests);
        }
        MPI_Waitall(2, requests, i == 1 ? MPI_STATUSES_IGNORE : statuses);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    /* to MPI_PROC_NULL: nothing; sendrecv of 12 bytes; derived types of 24 */
    MPI_Send(values, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    MPI_Recv(values, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(values, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(values, 9, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(values, 3, MPI_INT, peer, 6, others, 3, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Datatype triple;
    for (int i = 0; i < 2; i++) {
        MPI_Type_contiguous(3 * (i + 1), MPI_INT, &triple);
        MPI_Type_commit(&triple);
        MPI_Sendrecv(values, 2, triple, peer, 7, others, 2, triple, peer, 7, MPI_COMM_WORLD, &status);
        MPI_Type_free(&triple);
    }
    /* cancelled receive; matched probe */
    MPI_Irecv(values, 4, MPI_INT, peer, 99, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Message message;
    MPI_Isend(values, 5, MPI_INT, peer, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Mprobe(peer, 8, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(others, 5, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* collectives */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(values, 10, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(values, others, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(values, 3, MPI_INT, others, 3, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(values, 4, MPI_INT, others, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallreduce(values, others, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    /* left outstanding on purpose until the file is written: none */
    printf("done %d\n", rank);
    MPI_Finalize();
    return 0;
}
