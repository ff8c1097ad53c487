// Code generated from ../tools/tally/variables.h and ../node/names.h by table.h. DO NOT EDIT.
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
var ofProcess = []nodeDefinition{
	{"os/page_faults_minor", catalog.ClassCounter, "", "page faults of the process that needed no input from a disk"},
	{"os/page_faults_major", catalog.ClassCounter, "", "page faults of the process that waited for a disk"},
	{"os/context_switches_voluntary", catalog.ClassCounter, "", "how often threads of the process gave up their core, to sleep or to wait"},
	{"os/context_switches_involuntary", catalog.ClassCounter, "", "how often the kernel took a core from a thread of the process"},
	{"os/resident_memory", catalog.ClassLevel, "B", "memory of the process that is in RAM, with shared libraries and shared memory"},
	{"os/migrations", catalog.ClassCounter, "", "how often the main thread moved to another core; unknown if the kernel has no /proc/self/sched"},
	{"net/tcp/connections", catalog.ClassLevel, "", "TCP sockets of the process, also those that listen"},
	{"net/tcp/segments_sent", catalog.ClassCounter, "", "TCP segments that the process's sockets sent, with acknowledgements and retransmissions; " + "what a socket sent between the last reading and its end is missing"},
	{"net/tcp/segments_retransmitted", catalog.ClassCounter, "", "TCP segments that the process's sockets sent again, as the first ones were lost or late"},
}
var ofInterface = []nodeDefinition{

	{"bytes_received", catalog.ClassAggregate, "", "bytes that a network interface of the node received" + "; of all programs that use the interface"},
	{"packets_received", catalog.ClassCounter, "", "packets that a network interface of the node received" + "; of all programs that use the interface"},
	{"errors_received", catalog.ClassCounter, "", "packets received with an error, such as a wrong checksum" + "; of all programs that use the interface"},
	{"drops_received", catalog.ClassCounter, "", "packets received and dropped, because memory was short or their protocol is unknown" + "; of all programs that use the interface"},
	{"bytes_sent", catalog.ClassAggregate, "", "bytes that a network interface of the node sent" + "; of all programs that use the interface"},
	{"packets_sent", catalog.ClassCounter, "", "packets that a network interface of the node sent" + "; of all programs that use the interface"},
	{"errors_sent", catalog.ClassCounter, "", "packets that could not be sent because of an error" + "; of all programs that use the interface"},
	{"drops_sent", catalog.ClassCounter, "", "packets dropped instead of sent" + "; of all programs that use the interface"},
}
var ofPort = []nodeDefinition{

	{"bytes_received", catalog.ClassAggregate, "", "bytes that an InfiniBand port of the node received"},
	{"packets_received", catalog.ClassCounter, "", "packets that an InfiniBand port of the node received"},
	{"errors_received", catalog.ClassCounter, "", "packets received with an error"},
	{"bytes_sent", catalog.ClassAggregate, "", "bytes that an InfiniBand port of the node sent"},
	{"packets_sent", catalog.ClassCounter, "", "packets that an InfiniBand port of the node sent"},
	{"drops_sent", catalog.ClassCounter, "", "packets dropped instead of sent, as the port was down or congested"},
	{"waits", catalog.ClassCounter, "", "ticks of the port in which data waited because it could not send"},
	{"symbol_errors", catalog.ClassCounter, "", "minor errors of the physical link"},
	{"link_recoveries", catalog.ClassCounter, "", "how often the link recovered from errors by itself"},
	{"link_downed", catalog.ClassCounter, "", "how often the link went down, as it could not recover"},
}
