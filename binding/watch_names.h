/* watch_names.h: MPI's and PERUSE's names as calls of the table, for event_watch.h and peruse_watch.h, which programs of mpitx check have,
 * too. */
#ifndef MPITX_WATCH_NAMES_H
#define MPITX_WATCH_NAMES_H
#include "shim/mpitx.h"

static const struct mpitx_table *table;
typedef int64_t MPI_Count;
typedef intptr_t MPI_Aint;
typedef int MPI_Comm;
typedef mpitx_request MPI_Request;
typedef mpitx_handle MPI_T_event_instance, MPI_T_event_registration, MPI_T_cvar_handle;
typedef int MPI_T_cb_safety;
enum { MPI_SUCCESS = 0, MPI_COMM_WORLD = MPITX_OBJECT_COMM_WORLD, MPI_COMM_SELF = MPITX_OBJECT_COMM_SELF, MPI_BYTE = MPITX_TYPE_BYTE };
#define MPI_Isend(buf, n, type, to, tag, comm, request) table->isend(comm, buf, n, to, tag, request)
#define MPI_Irecv(buf, n, type, from, tag, comm, request) table->irecv(comm, buf, n, from, tag, request)
#define MPI_Wait(request, status) wait_for(request)
#define MPI_Iprobe(from, tag, comm, found, status) (void)table->iprobe(comm, from, tag, found, &(int){0}, &(int){0})
#define MPI_Comm_dup(comm, duplicate) table->comm_dup(comm, duplicate)
#define MPI_Comm_free(comm) table->comm_free(comm)
#define MPI_T_cvar_read(handle, buf) table->cvar_read(handle, buf)
#define MPI_T_event_copy(instance, buf) table->event_copy(instance, buf)
#define MPI_T_event_read(instance, i, buf) table->event_read(instance, i, buf)
#define MPI_T_event_get_source(instance, source) table->event_get_source(instance, source)
#define MPI_T_event_get_timestamp(instance, time) table->event_get_timestamp(instance, time)

typedef mpitx_handle peruse_event_h;
typedef const struct mpitx_peruse_spec peruse_comm_spec_t;
enum { PERUSE_SEND = MPITX_PERUSE_SEND, PERUSE_RECV = MPITX_PERUSE_RECV };
#define PERUSE_Event_get(handle, event) table->peruse_event_get(handle, event)
#define PERUSE_Lock() table->peruse_lock()
#define PERUSE_Unlock() table->peruse_unlock()

static inline void wait_for(mpitx_request *request)
{
    for (int done = 0; !done && table->test(request, &done) == 0;) {}
}

#endif
