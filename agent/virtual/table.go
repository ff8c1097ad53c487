// Code generated from ../tools/tally/variables.h by table.h. DO NOT EDIT.
package virtual

import "mpitx/catalog"

var table = []definition{
	{"calls", catalog.ClassCounter, "CALLS", []string{}, []string{}, false, "MPI calls by the application that have returned, or that longjmp or an exception has left"},
	{"time_in_mpi", catalog.ClassTimer, "TIME", []string{}, []string{}, false, "time of all threads in MPI calls, except those that initialize MPI; " + "a call left by longjmp or an exception counts at most until the thread's next call"},
	{"time_in_init", catalog.ClassTimer, "INIT_TIME", []string{}, []string{}, true, "time in MPI_Init, MPI_Init_thread and MPI_Session_init"},
	{"messages_sent", catalog.ClassCounter, "MESSAGES_SENT", []string{"POINT_TO_POINT", "COMPLETION"}, []string{"SENDS"}, false, "point-to-point messages sent, counted when the call that starts sending returns"},
	{"bytes_sent", catalog.ClassAggregate, "BYTES_SENT", []string{"POINT_TO_POINT", "COMPLETION"}, []string{"SENDS"}, false, "bytes of point-to-point messages sent"},
	{"messages_received", catalog.ClassCounter, "MESSAGES_RECEIVED", []string{"POINT_TO_POINT", "COMPLETION"}, []string{"RECEIVES"}, false, "point-to-point messages received, counted when the call that completes the receive returns"},
	{"bytes_received", catalog.ClassAggregate, "BYTES_RECEIVED", []string{"POINT_TO_POINT", "COMPLETION"}, []string{"RECEIVES"}, false, "bytes of point-to-point messages received, according to their statuses"},
	{"requests_outstanding", catalog.ClassLevel, "STARTED", []string{}, []string{"REQUESTS"}, true, "requests started and not yet completed by a wait, test or free"},
	{"collectives", catalog.ClassCounter, "COLLECTIVES", []string{"COLLECTIVE", "COMPLETION"}, []string{"SENDS"}, true, "collective operations started by this process"},
	{"collective_bytes_sent", catalog.ClassAggregate, "COLLECTIVE_SENT", []string{"COLLECTIVE", "COMPLETION"}, []string{"SENDS"}, false, "bytes that this process contributes to collective operations, according to their arguments"},
	{"collective_bytes_received", catalog.ClassAggregate, "COLLECTIVE_RECEIVED", []string{"COLLECTIVE", "COMPLETION"}, []string{"SENDS"}, false, "bytes that this process receives from collective operations, according to their arguments"},
	{"rma_operations", catalog.ClassCounter, "RMA_OPERATIONS", []string{"RMA"}, []string{"SENDS", "RECEIVES"}, true, "one-sided operations that move data"},
	{"rma_bytes_put", catalog.ClassAggregate, "RMA_PUT", []string{"RMA"}, []string{"SENDS"}, false, "bytes that one-sided operations write to other processes"},
	{"rma_bytes_got", catalog.ClassAggregate, "RMA_GOT", []string{"RMA"}, []string{"RECEIVES"}, false, "bytes that one-sided operations read from other processes"},
	{"io_bytes_written", catalog.ClassAggregate, "IO_WRITTEN", []string{"IO"}, []string{"SENDS"}, false, "bytes written to files through MPI"},
	{"io_bytes_read", catalog.ClassAggregate, "IO_READ", []string{"IO", "COMPLETION"}, []string{"RECEIVES"}, false, "bytes read from files through MPI"},
	{"cpu_time", catalog.ClassTimer, "CPU_TIME", []string{""}, []string{}, true, "time for which the threads of the process have run on a core, in MPI and outside of it"},
	{"cpu_wait", catalog.ClassTimer, "CPU_WAIT", []string{""}, []string{}, true, "time for which threads of the process were ready to run and had no core; " + "it costs nothing while a thread only waits for others and yields"},
}
