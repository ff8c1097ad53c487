/* life_tool.c: tools that print what they see. "life" sees early and late calls, functions that return no error code, and conversions, and
 * calls MPI itself by plain names. "none" and "silent" are the tests' bad ones. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <qmpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void say(int tool_id, const char *name)
{
    printf("%d %s\n", tool_id, name);
    fflush(stdout);
}

#define SEE(returns, name, NAME, parameters, ...)                                                                       \
    static returns see_##name parameters                                                                               \
    {                                                                                                                  \
        QMPI_##name##_t *next;                                                                                         \
        int next_id;                                                                                                   \
        say(tool_id, #name);                                                                                           \
        if (MPI_Get_next_tool_function(tool_id, MPI_##NAME##_T, (void (**)(void))&next, &next_id) != MPI_SUCCESS) abort(); \
        return next(context, next_id, ##__VA_ARGS__);                                                                  \
    }
#define HEAD MPI_Context context, int tool_id

SEE(int, Init, INIT, (HEAD, int *argc, char ***argv), argc, argv)
SEE(int, Init_thread, INIT_THREAD, (HEAD, int *argc, char ***argv, int level, int *provided), argc, argv, level, provided)
SEE(int, Initialized, INITIALIZED, (HEAD, int *flag), flag)
SEE(int, Get_version, GET_VERSION, (HEAD, int *version, int *subversion), version, subversion)
SEE(int, T_init_thread, T_INIT_THREAD, (HEAD, int level, int *provided), level, provided)
SEE(int, Comm_rank, COMM_RANK, (HEAD, MPI_Comm comm, int *rank), comm, rank)
SEE(int, Barrier, BARRIER, (HEAD, MPI_Comm comm), comm)
SEE(int, Finalize, FINALIZE, (HEAD))
SEE(int, Finalized, FINALIZED, (HEAD, int *flag), flag)
SEE(double, Wtime, WTIME, (HEAD))
SEE(double, Wtick, WTICK, (HEAD))
SEE(MPI_Aint, Aint_add, AINT_ADD, (HEAD, MPI_Aint base, MPI_Aint disp), base, disp)
SEE(MPI_Fint, File_c2f, FILE_C2F, (HEAD, MPI_File file), file)
SEE(MPI_Comm, Comm_f2c, COMM_F2C, (HEAD, MPI_Fint comm), comm)
SEE(MPI_Datatype, Type_f2c, TYPE_F2C, (HEAD, MPI_Fint type), type)

static void *thread(void *argument)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return argument;
}

/* Calls by plain names go to the library, from a function, from a thread and through a pointer. */
static int see_Send(HEAD, const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm)
{
    int rank = -1, next_rank = -1, next_id;
    int (*found)(MPI_Comm, int *) = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "MPI_Comm_rank");
    QMPI_Send_t *next;
    QMPI_Comm_rank_t *rank_of;
    pthread_t id;
    say(tool_id, "Send");
    MPI_Comm_rank(comm, &rank);
    PMPI_Comm_rank(comm, &rank);
    if (found) found(comm, &rank);
    QMPI_Comm_rank(context, 0, comm, &rank);
    if (pthread_create(&id, NULL, thread, NULL) != 0 || pthread_join(id, NULL) != 0) abort();
    MPI_Get_next_tool_function(tool_id, MPI_COMM_RANK_T, (void (**)(void))&rank_of, &next_id);
    rank_of(context, next_id, comm, &next_rank);
    if (rank != next_rank || MPI_Wtime() < 0) abort();
    MPI_Get_next_tool_function(tool_id, MPI_SEND_T, (void (**)(void))&next, &next_id);
    return next(context, next_id, buf, count, type, dest, tag, comm);
}

#define ADD(name, NAME)                                                                                                \
    if (MPI_Register_tool_function(tool_id, MPI_##NAME##_T, (void (*)(void))see_##name) != MPI_SUCCESS) abort()

static void life(int tool_id)
{
    int flag, id;
    void (*next)(void);
    say(tool_id, "life");
    MPI_Initialized(&flag); /* to the library, not to this tool */
    if (flag || MPI_Get_next_tool_function(tool_id, MPI_SEND_T, &next, &id) != MPI_ERR_OTHER) abort();
    if (getenv("SLOW")) usleep(50000); /* so that other threads come meanwhile */
    ADD(Init, INIT); ADD(Init_thread, INIT_THREAD); ADD(Initialized, INITIALIZED); ADD(Get_version, GET_VERSION); ADD(T_init_thread, T_INIT_THREAD);
    ADD(Comm_rank, COMM_RANK); ADD(Barrier, BARRIER); ADD(Send, SEND); ADD(Finalize, FINALIZE); ADD(Finalized, FINALIZED);
    ADD(Wtime, WTIME); ADD(Wtick, WTICK); ADD(Aint_add, AINT_ADD); ADD(File_c2f, FILE_C2F); ADD(Comm_f2c, COMM_F2C); ADD(Type_f2c, TYPE_F2C);
}

static int init_alone(HEAD, int *argc, char ***argv)
{
    (void)context, (void)argc, (void)argv;
    say(tool_id, "MPI_Init without the library");
    return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
static int session_alone(HEAD, MPI_Info info, MPI_Errhandler handler, MPI_Session *session)
{
    (void)context, (void)info, (void)handler, (void)session;
    say(tool_id, "MPI_Session_init without the library");
    return MPI_SUCCESS;
}
#endif

static void none(int tool_id)
{
#if MPI_VERSION >= 4
    MPI_Register_tool_function(tool_id, MPI_SESSION_INIT_T, (void (*)(void))session_alone);
#endif
    MPI_Register_tool_function(tool_id, MPI_INIT_T, (void (*)(void))init_alone);
}

static int late_Comm_rank(HEAD, MPI_Comm comm, int *rank)
{
    int late = MPI_Register_tool_function(tool_id, MPI_SEND_T, (void (*)(void))see_Send), name = MPI_Register_tool_name("late", none);
    printf("late: %d %d\n", late == MPI_ERR_OTHER, name == MPI_ERR_OTHER);
    fflush(stdout);
    return QMPI_Comm_rank(context, 0, comm, rank);
}

/* Registers what does not exist. */
static void wrong(int tool_id)
{
    void (*any)(void) = (void (*)(void))late_Comm_rank;
    int number = MPI_Register_tool_function(tool_id, MPI_LAST_FUNC_T, any), id = MPI_Register_tool_function(tool_id + 1, MPI_SEND_T, any);
    int storage = MPI_Register_tool_storage(99, NULL), no_function = MPI_Register_tool_function(tool_id, MPI_SEND_T, NULL);
    int first = MPI_Register_tool_function(tool_id, MPI_COMM_RANK_T, (void (*)(void))see_Comm_rank), second = MPI_Register_tool_function(tool_id, MPI_COMM_RANK_T, any);
    printf("wrong: %d %d %d %d, right: %d %d\n", number == MPI_ERR_ARG, id == MPI_ERR_ARG, storage == MPI_ERR_ARG, no_function == MPI_ERR_ARG,
           first == MPI_SUCCESS, second == MPI_SUCCESS);
    fflush(stdout);
}

__attribute__((constructor)) static void start(void)
{
    MPI_Register_tool_name("life", life);
    MPI_Register_tool_name("none", none);
    MPI_Register_tool_name("wrong", wrong);
    if (MPI_Register_tool_name("none", life) != MPI_ERR_ARG || MPI_Register_tool_name(NULL, life) != MPI_ERR_ARG || MPI_Register_tool_name("null", NULL) != MPI_ERR_ARG) abort();
    if (MPI_Register_tool_name("two\nlines", life) != MPI_ERR_ARG || MPI_Register_tool_name("", life) != MPI_ERR_ARG) abort();
}
