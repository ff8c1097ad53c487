/* events_library.h: raises the events of events_library.c. */
#include <mpi.h>

enum { EVENT_PAIR, EVENT_COMM, EVENT_CRASHING, EVENT_UNREADABLE, EVENT_WIDE, EVENTS };
enum { EVENTS_UNORDERED = 1, EVENTS_BACK = 2, EVENTS_IN_HANDLER = 4, EVENTS_FREED = 8 };

void events_raise(int type, MPI_Comm comm, int a, double b, int flags);
void events_drop(int type, int count);
int events_safety(int type); /* of the callback that is registered; -1: none */
