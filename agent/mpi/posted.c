#include "mpi/posted.h"

#include "base/memory.h"
#include "mpi/handles.h"

enum { MOST = 256 };

struct posted posted_requests[1 << POSTED_BITS];

bool posted_find(uint64_t handle, struct posted *found)
{
    const struct posted *place = posted_at(handle);
    *found = *place;
    found->function &= POSTED_SENDS - 1;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return handle && found->handle == handle && __atomic_load_n(&place->handle, __ATOMIC_RELAXED) == handle;
}

bool posted_read(uint64_t array, uint64_t *handles, unsigned n)
{
    MPI_Request requests[MOST];
    if (n > MOST || !memory_read(array, requests, n * sizeof *requests)) return false;
    for (unsigned i = 0; i < n; i++) handles[i] = requests[i] == NULL_REQUEST ? 0 : HANDLE_NUMBER(requests[i]);
    return true;
}
