#include "mpi/follow.h"

/* Whether a handle is null or predefined, and so not made by the program. */
static bool is_constant(uint64_t object)
{
#if defined(MPICH_LAYOUT)
    return object >> 30 <= 1; /* the kinds of handles "invalid" and "builtin" */
#elif defined(OPEN_MPI)
    for (int i = 0; i < RETURNED_CONSTANTS; i++)
        if (object == HANDLE_NUMBER(mpi_returned[i])) return true;
    return object == 0;
#else
    return object < 4096; /* of the standard ABI */
#endif
}

void follow_made(int function, enum call_object kind, uint64_t object)
{
    struct call_creation how = {.function = function};
    if (!is_constant(object)) call_hooks.object_created(kind, (union mpi_handle){.number = object}, &how);
}

void follow_named(enum call_object kind, uint64_t object, const char *name)
{
    call_hooks.object_named(kind, (union mpi_handle){.number = object}, name);
}

void follow_ending(enum call_object kind, uint64_t object)
{
    call_hooks.object_freeing(kind, (union mpi_handle){.number = object});
}

void follow_taken(int count, const MPI_Request *requests)
{
    for (int i = 0; requests && i < count; i++)
        if (!is_constant(HANDLE_NUMBER(requests[i])))
            call_hooks.request_taken((union mpi_handle){.number = HANDLE_NUMBER(requests[i])}, i);
}

void follow_left(int count, const MPI_Request *requests)
{
    for (int i = 0; requests && i < count; i++)
        call_hooks.request_left((union mpi_handle){.number = HANDLE_NUMBER(requests[i])}, i);
}
