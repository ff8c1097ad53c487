/* sampler_kinds [threads | many]: makes objects of each kind that variables can be bound to, except communicators and windows; waits until
 * each was sampled, and frees them (fixtures/fakempi/front). threads: threads make and end some without waiting; many: more datatypes than
 * the agent follows. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int front_wait(int reads) __attribute__((weak)); /* of the library in front */
void front_report(void) __attribute__((weak));

static int level;

static void wait_for_samples(void)
{
    if (!front_wait(3)) puts("some objects were not sampled");
}

static void ignore_comm(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }
static void ignore_win(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void nothing(void *in, void *out, int *n, MPI_Datatype *type) { (void)in, (void)out, (void)n, (void)type; }

static void each_kind(void)
{
    MPI_Datatype types[2];
    MPI_Errhandler handlers[2];
    MPI_File files[2];
    MPI_Group groups[2];
    MPI_Op ops[2];
    MPI_Info infos[2];
    MPI_Request requests[3];
    MPI_Message messages[2];
    int rank, zero = 0, data[4] = {0}, flag = 0, self = 0, done, places[2];
    char name[2][64];
    static char buffer[2 * (MPI_BSEND_OVERHEAD + 64)];
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(3, MPI_INT, &types[0]);
    MPI_Type_dup(types[0], &types[1]);
    MPI_Type_set_name(types[1], "triple");
    MPI_Comm_create_errhandler(ignore_comm, &handlers[0]);
    MPI_Win_create_errhandler(ignore_win, &handlers[1]);
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "kinds-%d-%d", rank, i);
        MPI_File_open(MPI_COMM_SELF, name[i], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &files[i]);
        MPI_Op_create(nothing, 1, &ops[i]);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &groups[0]);
    MPI_Group_incl(groups[0], 1, &zero, &groups[1]);
    MPI_Info_create(&infos[0]);
    MPI_Info_dup(infos[0], &infos[1]);
    for (int i = 0; i < 2; i++) MPI_Irecv(&data[i], 1, MPI_INT, self, i, MPI_COMM_SELF, &requests[i]);
    MPI_Recv_init(&data[2], 1, MPI_INT, self, 2, MPI_COMM_SELF, &requests[2]);
    for (int i = 0; i < 2; i++) {
        MPI_Bsend(&data[3], 1, MPI_INT, self, 10 + i, MPI_COMM_SELF);
        MPI_Mprobe(self, 10 + i, MPI_COMM_SELF, &messages[i], MPI_STATUS_IGNORE);
    }
#if MPI_VERSION >= 4
    MPI_Session sessions[2];
    for (int i = 0; i < 2; i++) MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]);
#endif
    wait_for_samples();

    /* The requests are tested in vain, and are the same after that. */
    for (int i = 0; i < 100; i++) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(2, requests, &done, places, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) MPI_Send(&data[3], 1, MPI_INT, self, i, MPI_COMM_SELF);
    MPI_Start(&requests[2]);
    MPI_Send(&data[3], 1, MPI_INT, self, 2, MPI_COMM_SELF);
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE); /* it is persistent */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    wait_for_samples();
    MPI_Request_free(&requests[2]);
    for (int i = 0; i < 2; i++) {
        MPI_Mrecv(&data[0], 1, MPI_INT, &messages[i], MPI_STATUS_IGNORE);
        MPI_Type_free(&types[i]);
        MPI_Errhandler_free(&handlers[i]);
        MPI_File_close(&files[i]);
        MPI_Op_free(&ops[i]);
        MPI_Group_free(&groups[i]);
        MPI_Info_free(&infos[i]);
#if MPI_VERSION >= 4
        MPI_Session_finalize(&sessions[i]);
#endif
    }
}

static void *thread(void *tag)
{
    int here = *(int *)tag, flag;
    for (int i = 0; i < 3000; i++) {
        MPI_Datatype type;
        MPI_Info info;
        MPI_Request requests[2];
        int data[3] = {0};
        MPI_Type_contiguous(i + 1, MPI_INT, &type);
        MPI_Info_create(&info);
        for (int k = 0; k < 2; k++) MPI_Irecv(&data[k], 1, MPI_INT, 0, here + k, MPI_COMM_SELF, &requests[k]);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        for (int k = 0; k < 2; k++) MPI_Send(&data[2], 1, MPI_INT, 0, here + k, MPI_COMM_SELF);
        if (i % 2) MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < 2; k++) MPI_Wait(&requests[k], MPI_STATUS_IGNORE);
        MPI_Info_free(&info);
        MPI_Type_free(&type);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t running[3];
    int tags[3] = {100, 200, 300};
    if (level < MPI_THREAD_MULTIPLE) return;
    for (int i = 0; i < 3; i++) pthread_create(&running[i], NULL, thread, &tags[i]);
    for (int i = 0; i < 3; i++) pthread_join(running[i], NULL);
}

static void many(void)
{
    static MPI_Datatype types[1500];
    for (int i = 0; i < 1500; i++) MPI_Type_contiguous(2, MPI_INT, &types[i]);
    for (int i = 0; i < 1500; i++) MPI_Type_free(&types[i]);
    MPI_Type_contiguous(2, MPI_INT, &types[0]); /* now there is room again */
    MPI_Type_set_name(types[0], "after many");
    wait_for_samples();
    MPI_Type_free(&types[0]);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    strcmp(what, "threads") == 0 ? threads() : strcmp(what, "many") == 0 ? many() : each_kind();
    front_report();
    MPI_Finalize();
    return 0;
}
