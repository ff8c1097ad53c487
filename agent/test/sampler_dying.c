/* sampler_dying HOW [alternate]: crashes in a call of MPI_T that holds the library's lock. Its signal handler, which may run on an alternate
 * stack, calls MPI_Abort or exit. A sample is due by then. It calls PMPI, as sampler_faulty.c defines those. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *how;

static void crashed(int sig)
{
    int rank;
    (void)sig;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (write(1, "crashed\n", 8) < 0 || strcmp(how, "exit") == 0) exit(5);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

static int faulty(void)
{
    int n = 0, level, verbosity, class, bind, readonly, continuous, atomic;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
    PMPI_T_pvar_get_num(&n);
    for (int i = n - 1; i >= 0; i--) {
        char name[256] = "";
        int length = sizeof name, none = 0;
        MPI_Datatype type;
        MPI_T_enum e;
        if (PMPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &e, NULL, &none, &bind, &readonly, &continuous, &atomic) == MPI_SUCCESS &&
            (strcmp(name, "faulty_crashes_in_alloc") == 0 || strncmp(name, "mtl_psm2_", 9) == 0))
            return i;
    }
    exit(9);
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = crashed, .sa_flags = argc > 2 ? SA_ONSTACK : 0};
    stack_t stack = {.ss_size = 1 << 18};
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int rank, count;
    how = argv[1];
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 100; i++) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    int index = faulty();
    MPI_T_pvar_session_create(&session);
    usleep(5000);
    PMPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_Finalize();
    return 8;
}
