/* peruse_library.h: raises the events of peruse_library.c. */
#include <mpi.h>

enum { PERUSE_ACTIVATE, PERUSE_UNEXPECTED, PERUSE_COMPLETE, PERUSE_OWN, PERUSE_NUMBER };

struct peruse_spec {
    MPI_Comm comm;
    void *buf;
    int count;
    MPI_Datatype datatype;
    int peer, tag, operation; /* 1: receive */
};
typedef int peruse_callback(void *handle, MPI_Aint unique_id, struct peruse_spec *spec, void *param);

int PERUSE_Event_comm_register(int event, MPI_Comm comm, peruse_callback *callback, void *param, void **handle);
int PERUSE_Event_activate(void *handle);
int PERUSE_Event_deactivate(void *handle);
int PERUSE_Event_propagate(void *handle, int mode);
int PERUSE_Event_release(void **handle);
void peruse_raise(int event, MPI_Comm comm, int peer, int tag, int elements);
void peruse_mute(int mute); /* 1: no callbacks until 0 */
long peruse_forbidden(void); /* allocations, locks and calls of MPI in callbacks */
int peruse_active(void); /* how many handles are active */
