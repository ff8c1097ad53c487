/* stuck.c: threads and callbacks that wait, for the tests of `mpitx where`: stuck KIND. */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, partner;
static MPI_Comm copy;
static jmp_buf before;

static void receive(int tag)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, partner, tag, copy, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) long compute(int deep)
{
    volatile char stack[256];
    memset((char *)stack, 1, sizeof stack);
    if (deep > 0) return compute(deep - 1) + stack[0];
    for (volatile long i = 0;; i++) continue;
}

static void *works(void *unused)
{
    return (void *)(compute(8) + (long)unused);
}

static void *sleeps(void *unused)
{
    for (;; sleep(1)) continue;
    return unused;
}

static void *works_after_call(void *unused)
{
    MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 1, copy);
    return works(unused);
}

static void *receives(void *tag)
{
    receive((int)(long)tag);
    return NULL;
}

static pthread_t start(void *(*run)(void *), long argument)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, (void *)argument);
    return thread;
}

static void receiving_operation(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
    receive(3);
}

static void receiving_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    receive(4);
}

static void jumping_handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(before, 1);
}

static int receiving_delete(MPI_Comm comm, int key, void *value, void *state)
{
    (void)comm, (void)key, (void)value, (void)state;
    receive(5);
    return MPI_SUCCESS;
}

static int query(void *state, MPI_Status *status) { (void)state, (void)status; return MPI_SUCCESS; }
static int no_free(void *state) { (void)state; return MPI_SUCCESS; }
static int cancel(void *state, int complete) { (void)state, (void)complete; return MPI_SUCCESS; }

static void fail(MPI_Comm_errhandler_function *handler)
{
    MPI_Comm wrong;
    MPI_Errhandler made;
    MPI_Comm_dup(MPI_COMM_WORLD, &wrong);
    MPI_Comm_set_name(wrong, "wrong");
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(wrong, made);
    MPI_Send(&rank, 1, MPI_INT, 1000, 1, wrong);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    int level, one = 1, sum, key;
    MPI_Init_thread(&argc, &argv, strncmp(kind, "thread", 6) == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = rank ^ 1;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_name(copy, "copy");
    if (!strcmp(kind, "thread-works")) { /* it may send later */
        start(works, 0);
        receive(7);
    } else if (!strcmp(kind, "thread-sleeps")) {
        start(sleeps, 0);
        receive(7);
    } else if (!strcmp(kind, "thread-called")) {
        start(works_after_call, 0);
        receive(7);
    } else if (!strcmp(kind, "threads-wait")) { /* and the main thread waits for them */
        pthread_t first = start(receives, 7);
        start(receives, 8);
        pthread_join(first, NULL);
    } else if (!strcmp(kind, "operation")) {
        MPI_Op op;
        MPI_Op_create(receiving_operation, 1, &op);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    } else if (!strcmp(kind, "handler")) {
        fail(receiving_handler);
    } else if (!strcmp(kind, "jump")) {
        if (setjmp(before) == 0) fail(jumping_handler);
        compute(8);
    } else if (!strcmp(kind, "attribute")) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, receiving_delete, &key, NULL);
        MPI_Comm_set_attr(copy, key, NULL);
        MPI_Comm_delete_attr(copy, key);
    } else if (!strcmp(kind, "returned")) { /* the callback has returned, and the call has not */
        MPI_Op op;
        MPI_Op_create(receiving_operation, 1, &op);
        partner = MPI_PROC_NULL;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_SELF);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, copy);
        if (rank == 1) compute(8);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, copy);
    } else if (!strcmp(kind, "generalized")) {
        MPI_Request request;
        MPI_Grequest_start(query, no_free, cancel, NULL, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "collective")) {
        MPI_Request request;
        if (rank == 1) compute(8);
        MPI_Ibarrier(copy, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (!strcmp(kind, "persistent")) { /* one of them is not active */
        MPI_Request requests[3];
        MPI_Status statuses[3];
        MPI_Recv_init(&sum, 1, MPI_INT, partner, 6, copy, &requests[0]);
        MPI_Recv_init(&key, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &requests[1]);
        requests[2] = MPI_REQUEST_NULL;
        MPI_Start(&requests[0]);
        MPI_Waitall(3, requests, statuses);
    } else if (!strcmp(kind, "sizes")) { /* more types than mpitx keeps sizes of */
        int values[4];
        MPI_Datatype first, more;
        MPI_Type_contiguous(2, MPI_INT, &first);
        MPI_Type_commit(&first);
        for (int i = 0; i < 40000; i++) {
            MPI_Type_contiguous(3, MPI_INT, &more);
            MPI_Type_commit(&more);
        }
        if (rank < 2)
            MPI_Recv(values, 3, MPI_INT, partner, 7, copy, MPI_STATUS_IGNORE);
        else
            MPI_Recv(values, 1, first, partner, 8, copy, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
