/* sampler_faulty.c: an MPI library with additional performance variables. One counts its reads, three are faulty, one takes 3 ms to read, one has an element for each
 * process of a communicator (like Open MPI's), sixteen are constant counters read under a lock (like real ones), and one appears with the
 * first window. It has the real library's name and needs the real one under another name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *const names[] = {"faulty_counts", "faulty_crashes_in_alloc", "faulty_crashes_in_read", "faulty_hangs", "bound_counts", "slow_counts"};
enum { NAMED = sizeof names / sizeof *names, PLAIN = 16, MORE = NAMED + PLAIN, MOST = 10000 };
static int places[MOST] = {[MORE] = 1}, first = -1, used = MORE + 1; /* after the first ones: elements of a handle */
static int late; /* number of variables added by the first window */
static unsigned long long reads, plain[PLAIN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(PMPI_##name) *)dlsym(RTLD_NEXT, "PMPI_" #name))
#define OURS(handle) ((int *)(handle) >= places && (int *)(handle) < places + MOST)

static void die(void) { *(volatile int *)16 = 1; }

static void spend(long long ns)
{
    struct timespec t, from;
    clock_gettime(CLOCK_MONOTONIC, &from);
    do clock_gettime(CLOCK_MONOTONIC, &t);
    while ((t.tv_sec - from.tv_sec) * 1000000000LL + t.tv_nsec - from.tv_nsec < ns);
}

/* mpitx finds the library by this symbol. */
int PMPI_Comm_rank(MPI_Comm comm, int *rank) { return REAL(Comm_rank)(comm, rank); }

int PMPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    late = 1;
    return REAL(Win_create)(base, size, unit, info, comm, win);
}

int PMPI_T_pvar_get_num(int *num)
{
    int rc = REAL(T_pvar_get_num)(num);
    if (first < 0) first = *num;
    *num += MORE + late;
    return rc;
}

int PMPI_T_pvar_get_info(int index, char *name, int *name_len, int *verbosity, int *class, MPI_Datatype *type, MPI_T_enum *enumtype,
                         char *desc, int *desc_len, int *bind, int *readonly, int *continuous, int *atomic)
{
    if (first < 0 || index < first)
        return REAL(T_pvar_get_info)(index, name, name_len, verbosity, class, type, enumtype, desc, desc_len, bind, readonly, continuous, atomic);
    if (name && name_len && *name_len > 0) {
        if (index - first < NAMED) snprintf(name, (size_t)*name_len, "%s", names[index - first]);
        else if (index - first == MORE) snprintf(name, (size_t)*name_len, "late_counts");
        else snprintf(name, (size_t)*name_len, "plain_%d", index - first - NAMED);
    }
    if (name_len) *name_len = 32;
    if (desc && desc_len && *desc_len > 0) *desc = 0;
    if (desc_len) *desc_len = 1;
    if (verbosity) *verbosity = MPI_T_VERBOSITY_USER_BASIC;
    if (class) *class = MPI_T_PVAR_CLASS_COUNTER;
    if (type) *type = MPI_UNSIGNED_LONG_LONG;
    if (enumtype) *enumtype = MPI_T_ENUM_NULL;
    if (bind) *bind = index - first == 4 ? MPI_T_BIND_MPI_COMM : MPI_T_BIND_NO_OBJECT;
    if (readonly) *readonly = 1;
    if (continuous) *continuous = 1;
    if (atomic) *atomic = 0;
    return MPI_SUCCESS;
}

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void *object, MPI_T_pvar_handle *handle, int *count)
{
    if (first < 0 || index < first) return REAL(T_pvar_handle_alloc)(session, index, object, handle, count);
    if (index - first == 1) {
        pthread_mutex_lock(&lock); /* real libraries crash while they hold their lock */
        die();
    }
    *handle = (MPI_T_pvar_handle)(void *)&places[index - first];
    *count = 1;
    if (index - first == 4) {
        if (used == MOST) used = MORE + 1;
        *handle = (MPI_T_pvar_handle)(void *)&places[used];
        REAL(Comm_size)(*(MPI_Comm *)object, count);
        places[used++] = *count;
    }
    return MPI_SUCCESS;
}

int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void *buf)
{
    if (!OURS(handle)) return REAL(T_pvar_read)(session, handle, buf);
    long which = (int *)(void *)handle - places;
    if (which >= NAMED && which < MORE) {
        pthread_mutex_lock(&lock);
        *(unsigned long long *)buf = plain[which - NAMED];
        pthread_mutex_unlock(&lock);
        return MPI_SUCCESS;
    }
    if (which == 2) die();
    if (which == 3) pause();
    if (which == 5) spend(3000000);
    for (int i = 0; i < (which < MORE ? 1 : places[which]); i++) ((unsigned long long *)buf)[i] = ++reads;
    return MPI_SUCCESS;
}

int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return OURS(handle) ? MPI_SUCCESS : REAL(T_pvar_start)(session, handle);
}

int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle)
{
    return OURS(handle) ? MPI_SUCCESS : REAL(T_pvar_stop)(session, handle);
}

int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle *handle)
{
    return OURS(*handle) ? MPI_SUCCESS : REAL(T_pvar_handle_free)(session, handle);
}
