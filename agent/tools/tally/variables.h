/* variables.h: the agent's own variables, mpitx:NAME. It is included by virtual.c and, by `make generate`, for the
 * table of package agent/virtual. Each of them defines what the words mean to it.
 *
 *     X(NAME, CLASS, FIELD, KINDS, TRAFFIC, WANTS, OWN, ONLY_TOTAL, DESCRIPTION)
 *
 * FIELD is of enum tally_field in the totals, OWN in a function's row: a function's bytes of collectives or RMA are in
 * its fields for bytes. KINDS are of the functions that can contribute, and TRAFFIC is what they must be able to carry,
 * any of it. WANTS are enum chain_wants. ONLY_TOTAL: no function has a share of its own. */
#define MESSAGES KIND(POINT_TO_POINT) KIND(COMPLETION)
#define COLLECTIVES KIND(COLLECTIVE) KIND(COMPLETION)

X(calls, COUNTER, CALLS, ALL_KINDS, ANY_TRAFFIC, COUNTED, CALLS, false,
  "MPI calls by the application that have returned, or that longjmp or an exception has left")
X(time_in_mpi, TIMER, TIME, ALL_KINDS, ANY_TRAFFIC, TIMED, TIME, false,
  "time of all threads in MPI calls, except those that initialize MPI; " AND
  "a call left by longjmp or an exception counts at most until the thread's next call")
X(time_in_init, TIMER, INIT_TIME, ALL_KINDS, ANY_TRAFFIC, TIMED, TIME, true,
  "time in MPI_Init, MPI_Init_thread and MPI_Session_init")
X(messages_sent, COUNTER, MESSAGES_SENT, MESSAGES, CARRIES(SENDS), DESCRIBED, MESSAGES_SENT, false,
  "point-to-point messages sent, counted when the call that starts sending returns")
X(bytes_sent, AGGREGATE, BYTES_SENT, MESSAGES, CARRIES(SENDS), DESCRIBED, BYTES_SENT, false,
  "bytes of point-to-point messages sent")
X(messages_received, COUNTER, MESSAGES_RECEIVED, MESSAGES, CARRIES(RECEIVES), DESCRIBED, MESSAGES_RECEIVED, false,
  "point-to-point messages received, counted when the call that completes the receive returns")
X(bytes_received, AGGREGATE, BYTES_RECEIVED, MESSAGES, CARRIES(RECEIVES), DESCRIBED, BYTES_RECEIVED, false,
  "bytes of point-to-point messages received, according to their statuses")
X(requests_outstanding, LEVEL, STARTED, ALL_KINDS, CARRIES(REQUESTS), DESCRIBED, STARTED, true,
  "requests started and not yet completed by a wait, test or free")
X(collectives, COUNTER, COLLECTIVES, COLLECTIVES, CARRIES(SENDS), DESCRIBED, CALLS, true,
  "collective operations started by this process")
X(collective_bytes_sent, AGGREGATE, COLLECTIVE_SENT, COLLECTIVES, CARRIES(SENDS), DESCRIBED, BYTES_SENT, false,
  "bytes that this process contributes to collective operations, according to their arguments")
X(collective_bytes_received, AGGREGATE, COLLECTIVE_RECEIVED, COLLECTIVES, CARRIES(SENDS), DESCRIBED, BYTES_RECEIVED,
  false, "bytes that this process receives from collective operations, according to their arguments")
X(rma_operations, COUNTER, RMA_OPERATIONS, KIND(RMA), CARRIES(SENDS) CARRIES(RECEIVES), DESCRIBED, CALLS, true,
  "one-sided operations that move data")
X(rma_bytes_put, AGGREGATE, RMA_PUT, KIND(RMA), CARRIES(SENDS), DESCRIBED, BYTES_SENT, false,
  "bytes that one-sided operations write to other processes")
X(rma_bytes_got, AGGREGATE, RMA_GOT, KIND(RMA), CARRIES(RECEIVES), DESCRIBED, BYTES_RECEIVED, false,
  "bytes that one-sided operations read from other processes")
X(io_bytes_written, AGGREGATE, IO_WRITTEN, KIND(IO), CARRIES(SENDS), DESCRIBED, BYTES_SENT, false,
  "bytes written to files through MPI")
X(io_bytes_read, AGGREGATE, IO_READ, KIND(IO) KIND(COMPLETION), CARRIES(RECEIVES), DESCRIBED, BYTES_RECEIVED, false,
  "bytes read from files through MPI")
X(cpu_time, TIMER, CPU_TIME, NO_KIND, ANY_TRAFFIC, NOTHING, CPU_TIME, true,
  "time for which the threads of the process have run on a core, in MPI and outside of it")
X(cpu_wait, TIMER, CPU_WAIT, NO_KIND, ANY_TRAFFIC, NOTHING, CPU_WAIT, true,
  "time for which threads of the process were ready to run and had no core; " AND
  "it costs nothing while a thread only waits for others and yields")
