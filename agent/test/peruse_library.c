/* peruse_library: PERUSE 2.0 for an MPI library that has none. It is linked in front of the library. Programs raise the events
 * themselves. As in Open MPI, a communicator and event have one place for a callback, and a released handle stays active. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "peruse_library.h"

static const char *const names[PERUSE_NUMBER] = {"PERUSE_COMM_REQ_ACTIVATE", "PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", "PERUSE_COMM_REQ_COMPLETE", "TEST_OWN_EVENT"};

static struct handle {
    MPI_Comm comm;
    int event, active;
    peruse_callback *callback;
    void *param;
} handles[64];
static int count;

/* The agent takes the object that has this function for the MPI library. */
int PMPI_Comm_rank(MPI_Comm comm, int *rank)
{
    static int (*next)(MPI_Comm, int *);
    if (!next) next = (int (*)(MPI_Comm, int *))dlsym(RTLD_NEXT, "PMPI_Comm_rank");
    return next(comm, rank);
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

int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_callback *callback, void *param, void **handle)
{
    struct handle *h = handles;
    while (h < handles + count && (h->comm != comm || h->event != event - 40)) h++;
    if (h == handles + count) count++;
    *h = (struct handle){comm, event - 40, 0, callback, param};
    *handle = h;
    return 0;
}

int PERUSE_Event_activate(void *h) { return ((struct handle *)h)->active = 1, 0; }
int PERUSE_Event_deactivate(void *h) { return ((struct handle *)h)->active = 0, 0; }
int PERUSE_Event_release(void **h) { return *h = NULL, 0; }

void peruse_raise(int event, MPI_Comm comm, int peer, int tag, int elements)
{
    struct peruse_spec spec = {comm, NULL, elements, MPI_INT, peer, tag, 1};
    for (int i = 0; i < count; i++)
        if (handles[i].comm == comm && handles[i].event == event && handles[i].active) handles[i].callback(&handles[i], 77, &spec, handles[i].param);
}

int peruse_active(void)
{
    int n = 0;
    for (int i = 0; i < count; i++) n += handles[i].active;
    return n;
}
