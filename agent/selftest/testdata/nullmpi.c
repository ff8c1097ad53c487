/* nullmpi.c: an MPI library that does next to nothing, so that benchmarks measure the wrapper. */
#include <mpi.h>
#include <stdarg.h>
#include <string.h>

#if defined(OPEN_MPI)
/* The objects behind mpi.h's constants, which mpi.h declares as incomplete structs. */
#define DATA(name) __asm__(".globl " #name "\n.comm " #name ",512,64");
DATA(ompi_mpi_comm_world) DATA(ompi_mpi_comm_self) DATA(ompi_mpi_comm_null) DATA(ompi_mpi_int) DATA(ompi_mpi_char)
DATA(ompi_request_null) DATA(ompi_mpi_datatype_null) DATA(ompi_mpi_win_null) DATA(ompi_mpi_info_null)
#define VERSION "Open MPI, null"
#else
#define VERSION "MPICH, null"
#endif

#define FUNCTION(name, parameters, ...)                                                                                \
    __attribute__((noinline)) int P##name parameters                                                                   \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        __asm__ volatile("");                                                                                          \
        return MPI_SUCCESS;                                                                                            \
    }                                                                                                                  \
    int name parameters __attribute__((weak, alias("P" #name)));

FUNCTION(MPI_Init, (int *argc, char ***argv), (void)argc, (void)argv)
FUNCTION(MPI_Finalize, (void))
FUNCTION(MPI_Query_thread, (int *level), *level = MPI_THREAD_SINGLE)
FUNCTION(MPI_Comm_rank, (MPI_Comm comm, int *rank), (void)comm, *rank = 0)
FUNCTION(MPI_Comm_size, (MPI_Comm comm, int *size), (void)comm, *size = 1)
FUNCTION(MPI_Type_size, (MPI_Datatype type, int *size), (void)type, *size = 4)
FUNCTION(MPI_Send, (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm), (void)buf, (void)count, (void)type,
         (void)dest, (void)tag, (void)comm)
FUNCTION(MPI_Recv, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status), (void)buf,
         (void)type, (void)tag, (void)comm, (void)count, status ? status->MPI_SOURCE = source : 0)

/* For two_plugin.c. */
FUNCTION(MPI_Initialized, (int *flag), *flag = 0)
FUNCTION(MPI_Get_library_version, (char *version, int *length), strcpy(version, VERSION), *length = (int)strlen(version))
FUNCTION(MPI_Sendrecv, (const void *buf, int count, MPI_Datatype type, int dest, int tag, void *to, int most, MPI_Datatype to_type, int source,
    int to_tag, MPI_Comm comm, MPI_Status *status), if (count == most && dest == source && tag == to_tag && type == to_type && comm == MPI_COMM_WORLD &&
        status == MPI_STATUS_IGNORE) memcpy(to, buf, 4 * (unsigned)count))
FUNCTION(MPI_File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file), (void)comm, (void)name, (void)mode,
         (void)info, memset(file, 0, sizeof *file))
FUNCTION(MPI_File_write_at_all, (MPI_File file, MPI_Offset at, const void *buf, int count, MPI_Datatype type, MPI_Status *status), (void)file,
         (void)at, (void)buf, (void)count, (void)type, (void)status)
FUNCTION(MPI_File_close, (MPI_File *file), (void)file)
int PMPI_Pcontrol(const int level, ...)
{
    va_list more;
    va_start(more, level);
    double number = va_arg(more, double);
    va_end(more);
    return level == 2 && number == 2.5 ? MPI_SUCCESS : MPI_ERR_ARG;
}
int MPI_Pcontrol(const int level, ...) __attribute__((weak, alias("PMPI_Pcontrol")));

#if MPI_VERSION >= 4
/* For sessions_again.c; real libraries may crash on it. */
FUNCTION(MPI_Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session), (void)info, (void)handler, memset(session, 1, sizeof *session))
FUNCTION(MPI_Session_finalize, (MPI_Session *session), (void)session)
#endif
