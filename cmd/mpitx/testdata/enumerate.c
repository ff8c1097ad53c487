/* An independent enumeration of what an MPI library exposes through MPI_T, to compare mpitx with: enumerate FOLDER, under a
   launcher. Rank 0 leaves FOLDER/before and FOLDER/after, with a line for each variable: kind, name, class, status, value. */
#include <mpi.h>

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(int rc, const char *what)
{
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "enumerate: %s: %d\n", what, rc);
        exit(1);
    }
}

/* The fewest digits that read back, but no exponent for a number such as 10. */
static void print_double(FILE *f, double d)
{
    char text[64];
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    fputs(text, f);
}

static void print_value(FILE *f, MPI_Datatype type, const void *p, int count)
{
    if (type == MPI_CHAR) { /* in hexadecimal: it may hold anything */
        for (int i = 0; i < count && ((const char *)p)[i] != 0; i++)
            fprintf(f, "%02x", ((const unsigned char *)p)[i]);
        return;
    }
    for (int i = 0; i < count; i++) {
        if (i > 0)
            fputc(',', f);
#define AS(mpi, c, format, as)                                     \
    if (type == mpi) {                                             \
        fprintf(f, format, (as)((const c *)p)[i]);                 \
        continue;                                                  \
    }
        AS(MPI_INT, int, "%lld", long long)
        AS(MPI_UNSIGNED, unsigned, "%llu", unsigned long long)
        AS(MPI_UNSIGNED_LONG, unsigned long, "%llu", unsigned long long)
        AS(MPI_UNSIGNED_LONG_LONG, unsigned long long, "%llu", unsigned long long)
        AS(MPI_COUNT, MPI_Count, "%lld", long long)
        AS(MPI_INT32_T, int32_t, "%lld", long long)
        AS(MPI_UINT32_T, uint32_t, "%llu", unsigned long long)
        AS(MPI_INT64_T, int64_t, "%lld", long long)
        AS(MPI_UINT64_T, uint64_t, "%llu", unsigned long long)
        if (type == MPI_DOUBLE)
            print_double(f, ((const double *)p)[i]);
        else
        if (type == MPI_C_BOOL)
            fputs(((const bool *)p)[i] ? "true" : "false", f);
        else
            fputs("?", f);
    }
}

static void cvars(FILE *f)
{
    int num;
    must(MPI_T_cvar_get_num(&num), "cvar_get_num");
    for (int i = 0; i < num; i++) {
        char name[4096];
        int length = sizeof name, verbosity, bind, scope, count = 1, rc;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;
        rc = MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &items, NULL, NULL, &bind, &scope);
        if (rc != MPI_SUCCESS)
            continue;
        fprintf(f, "cvar\t%s\t\t", name);
        rc = MPI_T_cvar_handle_alloc(i, NULL, &handle, &count);
        uint64_t *room = calloc((size_t)count + 1, sizeof *room);
        if (rc == MPI_SUCCESS)
            rc = MPI_T_cvar_read(handle, room);
        fprintf(f, "%s\t%s\t", rc == MPI_SUCCESS ? "ok" : "error", type == MPI_CHAR ? "text" : "number");
        if (rc == MPI_SUCCESS)
            print_value(f, type, room, count);
        fputc('\n', f);
        free(room);
    }
}

static const char *class_name(int class)
{
    return class == MPI_T_PVAR_CLASS_STATE ? "state" : class == MPI_T_PVAR_CLASS_LEVEL ? "level"
        : class == MPI_T_PVAR_CLASS_SIZE ? "size" : class == MPI_T_PVAR_CLASS_PERCENTAGE ? "percentage"
        : class == MPI_T_PVAR_CLASS_HIGHWATERMARK ? "highwatermark" : class == MPI_T_PVAR_CLASS_LOWWATERMARK ? "lowwatermark"
        : class == MPI_T_PVAR_CLASS_COUNTER ? "counter" : class == MPI_T_PVAR_CLASS_AGGREGATE ? "aggregate"
        : class == MPI_T_PVAR_CLASS_TIMER ? "timer" : class == MPI_T_PVAR_CLASS_GENERIC ? "generic" : "?";
}

/* Open MPI 6.0 takes the address of the handle for the object; its ABI library that of a copy, which lies below this frame. Zeros behind
 * either are a valid object. */
__attribute__((noinline)) static int alloc_bound(MPI_T_pvar_session session, int i, void *object, MPI_T_pvar_handle *handle, int *count)
{
    volatile char zeros[1024];
    for (size_t k = 0; k < sizeof zeros; k++)
        zeros[k] = 0;
    int rc = MPI_T_pvar_handle_alloc(session, i, object, handle, count);
    return zeros[0] ? -1 : rc;
}

/* Some of Open MPI's kill the process in handle_alloc: each is tried in a process of its own. */
static const char *try_pvar(int i, void *object)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        for (int s = 1; s < 32; s++)
            if (s != SIGKILL && s != SIGSTOP)
                signal(s, SIG_DFL);
        alarm(20);
        MPI_T_pvar_session session;
        MPI_T_pvar_handle handle;
        int count = 1;
        int rc = MPI_T_pvar_session_create(&session);
        if (rc == MPI_SUCCESS)
            rc = alloc_bound(session, i, object, &handle, &count);
        _exit(rc == MPI_SUCCESS ? 0 : 1);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? "crash" : WEXITSTATUS(status) == 0 ? "ok" : "error";
}

static void pvars(FILE *f, int initialized)
{
    int num;
    must(MPI_T_pvar_get_num(&num), "pvar_get_num");
    for (int i = 0; i < num; i++) {
        char name[4096];
        int length = sizeof name, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum items;
        struct { MPI_Comm comm; char zeros[1024]; } world = {.comm = MPI_COMM_WORLD};
        int rc = MPI_T_pvar_get_info(i, name, &length, &verbosity, &class, &type, &items, NULL, NULL, &bind, &readonly, &continuous, &atomic);
        if (rc != MPI_SUCCESS)
            continue;
        const char *status = bind == MPI_T_BIND_NO_OBJECT ? try_pvar(i, NULL)
            : bind == MPI_T_BIND_MPI_COMM && initialized ? try_pvar(i, &world) : "unbound";
        fprintf(f, "pvar\t%s\t%s\t%s\t\t\n", name, class_name(class), status);
    }
}

static void enumerate(const char *path, int initialized)
{
    int provided;
    FILE *f = path != NULL ? fopen(path, "w") : fopen("/dev/null", "w");
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    must(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "init_thread");
    cvars(f);
    pvars(f, initialized);
    if (fclose(f) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    char before[4096], path[4096];
    int rank, status;
    if (argc != 2)
        return 2;
    /* The stage before MPI_Init in a process that never calls it. */
    snprintf(before, sizeof before, "%s/before.%d", argv[1], (int)getpid());
    pid_t pid = fork();
    if (pid == 0) {
        enumerate(before, 0);
        _exit(0);
    }
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof path, "%s/before", argv[1]);
    if (rank == 0 ? rename(before, path) : unlink(before))
        return 1;
    snprintf(path, sizeof path, "%s/after", argv[1]);
    enumerate(rank == 0 ? path : NULL, 1);
    MPI_Finalize();
    return 0;
}
