/* peruse_library: PERUSE 2.0 for an MPI library that has none. It is linked in front of the library. Programs raise the events
 * themselves. As in Open MPI, a communicator and event have one place for a callback, and a released handle stays active. With
 * NO_PROPAGATE, PERUSE_Event_propagate does nothing, as in Open MPI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "forbidden.h"
#include "peruse_library.h"

static const char *const names[PERUSE_NUMBER] = {"PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", "PERUSE_COMM_REQ_COMPLETE", "TEST_OWN_EVENT"};

static struct handle {
    MPI_Comm comm;
    int event, active, propagates;
    peruse_callback *callback;
    void *param;
    struct handle *original; /* the handle that was propagated, or itself */
} handles[64];
static int count;

/* The agent takes the object that has this function for the MPI library. */
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    static int (*next)(MPI_Comm, int *);
    if (!next) next = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_rank");
    return forbid(), next(comm, rank);
}

int PERUSE_Init(void) { return 0; }

int PERUSE_Query_supported_events(int *num, char ***event_names, int **events)
{
    *num = PERUSE_NUMBER;
    *event_names = malloc(sizeof names);
    *events = malloc(sizeof(int) * PERUSE_NUMBER);
    memcpy(*event_names, names, sizeof names);
    for (int i = 0; i < PERUSE_NUMBER; i++) (*events)[i] = 40 + i;
    return 0;
}

static struct handle *place(MPI_Comm comm, int event)
{
    struct handle *h = handles;
    while (h < handles + count && (h->comm != comm || h->event != event)) h++;
    if (h == handles + count) count++;
    return h;
}

int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_callback *callback, void *param, void **handle)
{
    struct handle *h = place(comm, event - 40);
    *h = (struct handle){comm, event - 40, 0, 0, callback, param, h};
    *handle = h;
    return 0;
}

int PERUSE_Event_propagate(void *h, int mode)
{
#ifndef NO_PROPAGATE
    struct handle *of = h;
    if (!of || of->active) return 5; /* PERUSE_ERR_EVENT_HANDLE */
    of->propagates = mode;
#endif
    return 0;
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy)
{
    static int (*next)(MPI_Comm, MPI_Comm *);
    if (!next) next = (int (*)(MPI_Comm, MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_dup");
    int rc = next(comm, copy);
    for (int i = 0, n = count; i < n; i++)
        if (handles[i].comm == comm && handles[i].original->propagates) {
            struct handle *h = place(*copy, handles[i].event);
            *h = (struct handle){.comm = *copy, .event = handles[i].event, .original = handles[i].original};
        }
    return rc;
}
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm *copy) __attribute__((alias("MPI_Comm_dup")));

int MPI_Comm_free(MPI_Comm *comm)
{
    static int (*next)(MPI_Comm *);
    if (!next) next = (int (*)(MPI_Comm *))dlsym(RTLD_NEXT, "PMPI_Comm_free");
    for (int i = 0; i < count; i++)
        if (handles[i].comm == *comm && handles[i].original != &handles[i]) handles[i].comm = MPI_COMM_NULL;
    return next(comm);
}
int PMPI_Comm_free(MPI_Comm *comm) __attribute__((alias("MPI_Comm_free")));

int PERUSE_Event_activate(void *h) { return ((struct handle *)h)->active = 1, 0; }
int PERUSE_Event_deactivate(void *h) { return ((struct handle *)h)->active = 0, 0; }
int PERUSE_Event_release(void **h) { return *h = NULL, 0; }

long peruse_forbidden(void) { return forbidden; }

static int muted;
void peruse_mute(int mute) { muted = mute; }

void peruse_raise(int event, MPI_Comm comm, int peer, int tag, int elements)
{
    struct peruse_spec spec = {comm, NULL, elements, MPI_INT, peer, tag, 1};
    for (int i = 0; i < count; i++) {
        struct handle *h = handles[i].original;
        inside++;
        if (handles[i].comm == comm && handles[i].event == event && h->active && !muted) h->callback(h, 77, &spec, h->param);
        inside--;
    }
}

int peruse_active(void)
{
    int n = 0;
    for (int i = 0; i < count; i++) n += handles[i].active;
    return n;
}
