/* names.h: the variables of the node, mpitx:os/NAME and mpitx:net/…/NAME. It is included by node.c and, by `make
 * generate`, for the table of package agent/virtual.
 *
 *     NODE(NAME, CLASS, UNIT, DESCRIPTION)           of the process
 *     INTERFACE(NAME, CLASS, COLUMN, DESCRIPTION)    of a network interface: a column of /proc/net/dev
 *     PORT(NAME, CLASS, FILE, BITS, SCALE, DESCRIPTION)
 *                                                    of an InfiniBand port: a file in counters/, where a counter of
 *                                                    this many bits stops at its limit
 *
 * Aggregates are in bytes. Of the three macros, those that are not defined are left out. */
#ifndef NODE
#define NODE(name, class, unit, description)
#endif
#ifndef INTERFACE
#define INTERFACE(name, class, column, description)
#endif
#ifndef PORT
#define PORT(name, class, file, bits, scale, description)
#endif
#define BYTES "B"
#define NUMBER ""

NODE(os/page_faults_minor, COUNTER, NUMBER, "page faults of the process that needed no input from a disk")
NODE(os/page_faults_major, COUNTER, NUMBER, "page faults of the process that waited for a disk")
NODE(os/context_switches_voluntary, COUNTER, NUMBER,
     "how often threads of the process gave up their core, to sleep or to wait")
NODE(os/context_switches_involuntary, COUNTER, NUMBER, "how often the kernel took a core from a thread of the process")
NODE(os/resident_memory, LEVEL, BYTES, "memory of the process that is in RAM, with shared libraries and shared memory")
NODE(os/migrations, COUNTER, NUMBER,
     "how often the main thread moved to another core; unknown if the kernel has no /proc/self/sched")
NODE(net/tcp/connections, LEVEL, NUMBER, "TCP sockets of the process, also those that listen")
NODE(net/tcp/segments_sent, COUNTER, NUMBER,
     "TCP segments that the process's sockets sent, with acknowledgements and retransmissions; " AND
     "what a socket sent between the last reading and its end is missing")
NODE(net/tcp/segments_retransmitted, COUNTER, NUMBER,
     "TCP segments that the process's sockets sent again, as the first ones were lost or late")

#define OF_ALL "; of all programs that use the interface"
INTERFACE(bytes_received, AGGREGATE, 0, "bytes that a network interface of the node received" AND OF_ALL)
INTERFACE(packets_received, COUNTER, 1, "packets that a network interface of the node received" AND OF_ALL)
INTERFACE(errors_received, COUNTER, 2, "packets received with an error, such as a wrong checksum" AND OF_ALL)
INTERFACE(drops_received, COUNTER, 3, "packets received and dropped, because memory was short or their protocol is unknown" AND OF_ALL)
INTERFACE(bytes_sent, AGGREGATE, 8, "bytes that a network interface of the node sent" AND OF_ALL)
INTERFACE(packets_sent, COUNTER, 9, "packets that a network interface of the node sent" AND OF_ALL)
INTERFACE(errors_sent, COUNTER, 10, "packets that could not be sent because of an error" AND OF_ALL)
INTERFACE(drops_sent, COUNTER, 11, "packets dropped instead of sent" AND OF_ALL)

PORT(bytes_received, AGGREGATE, port_rcv_data, 32, 4, "bytes that an InfiniBand port of the node received")
PORT(packets_received, COUNTER, port_rcv_packets, 32, 1, "packets that an InfiniBand port of the node received")
PORT(errors_received, COUNTER, port_rcv_errors, 16, 1, "packets received with an error")
PORT(bytes_sent, AGGREGATE, port_xmit_data, 32, 4, "bytes that an InfiniBand port of the node sent")
PORT(packets_sent, COUNTER, port_xmit_packets, 32, 1, "packets that an InfiniBand port of the node sent")
PORT(drops_sent, COUNTER, port_xmit_discards, 16, 1,
     "packets dropped instead of sent, as the port was down or congested")
PORT(waits, COUNTER, port_xmit_wait, 32, 1, "ticks of the port in which data waited because it could not send")
PORT(symbol_errors, COUNTER, symbol_error, 16, 1, "minor errors of the physical link")
PORT(link_recoveries, COUNTER, link_error_recovery, 8, 1, "how often the link recovered from errors by itself")
PORT(link_downed, COUNTER, link_downed, 8, 1, "how often the link went down, as it could not recover")

#undef NODE
#undef INTERFACE
#undef PORT
#undef BYTES
#undef NUMBER
#undef OF_ALL
