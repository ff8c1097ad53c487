/* events_library.h: raises the events of events_library.c. */
#include <mpi.h>

enum { EVENT_PAIR, EVENT_COMM, EVENT_WIN, EVENT_CRASHING, EVENT_UNREADABLE, EVENT_WIDE, EVENT_MORE, EVENT_MOST, EVENTS };
enum { EVENTS_UNORDERED = 1, EVENTS_BACK = 2, EVENTS_IN_HANDLER = 4, EVENTS_FREED = 8 };

void events_raise(int type, MPI_Comm comm, int a, double b, int flags);
void events_raise_win(MPI_Win win, int a);
void events_mute(int mute); /* 1: no callbacks until 0 */
long events_forbidden(void); /* allocations, locks and calls of MPI in callbacks */
void events_drop(int type, int count);
int events_safety(int type); /* of the callback that is registered; -1: none */
