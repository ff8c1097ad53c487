package catalog

// Why events cannot be derived from calls.
const (
	insideQueues  = "only the library sees its queues; mpitx report RUN queues derives bounds of waiting times from calls"
	insideFiles   = "only the library sees what it reads and writes on behalf of a call"
	insideWindows = "only the library sees when it transfers the data of one-sided operations"
)

var peruseEvents = []PeruseEvent{
	{"PERUSE_COMM_REQ_ACTIVATE", "4.3.1", BindComm, "The library starts to process a request: in MPI_Send, MPI_Recv, MPI_Isend, MPI_Irecv, MPI_Start and so on.",
		false, FromCalls, "the beginning of the call that sends, or posts the receive"},
	{"PERUSE_COMM_REQ_MATCH_UNEX", "4.3.1", BindComm, "A request matches a message in the queue of unexpected messages.", false, NotDerived, insideQueues},
	{"PERUSE_COMM_REQ_INSERT_IN_POSTED_Q", "4.3.1", BindComm, "A receive enters the queue of posted receives, as no unexpected message matches it.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_REQ_REMOVE_FROM_POSTED_Q", "4.3.1", BindComm, "A receive leaves the queue of posted receives: a message matches it, or MPI_Cancel cancelled it.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_REQ_XFER_BEGIN", "4.3.1", BindComm, "The library schedules the first transfer of the message's data. Control messages do not count.", false, FromCalls,
		"not before the receive was posted and the message was sent; of receives whose send is in the trace, too"},
	{"PERUSE_COMM_REQ_XFER_END", "4.3.1", BindComm, "The library has scheduled the transfer of the message's last byte.", false, FromCalls,
		"not after the call returned that completed the receive; of receives whose send is in the trace, too"},
	{"PERUSE_COMM_REQ_COMPLETE", "4.3.1", BindComm, "The library marks the request as complete; a call of MPI_Wait or MPI_Test would succeed.", false, FromCalls,
		"not after the call returned that completed the request; of receives and blocking sends"},
	{"PERUSE_COMM_REQ_NOTIFY", "4.3.1", BindComm, "The program learns that the request is complete: in MPI_Wait, MPI_Test, or before MPI_Send or MPI_Recv returns.", false, FromCalls,
		"the end of the call that completed the request; of receives and blocking sends"},
	{"PERUSE_COMM_MSG_ARRIVED", "4.3.1", BindComm, "A message arrives that is matched with the program's requests.", false, NotDerived, "only the library sees messages arrive"},
	{"PERUSE_COMM_MSG_INSERT_IN_UNEX_Q", "4.3.1", BindComm, "A message enters the queue of unexpected messages, as no posted receive matches it.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_MSG_REMOVE_FROM_UNEX_Q", "4.3.1", BindComm, "A message leaves the queue of unexpected messages, as a receive matches it.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_MSG_MATCH_POSTED_REQ", "4.3.1", BindComm, "An incoming message matches a posted receive, and does not enter the queue of unexpected messages.", false, NotDerived, insideQueues},
	{"PERUSE_COMM_SEARCH_POSTED_Q_BEGIN", "4.4", BindComm, "The library begins to search the queue of posted receives for an incoming message.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_SEARCH_POSTED_Q_END", "4.4", BindComm, "The library ends this search.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_SEARCH_UNEX_QUEUE_BEGIN", "4.4", BindComm, "The library begins to search the queue of unexpected messages for a receive.", true, NotDerived, insideQueues},
	{"PERUSE_COMM_SEARCH_UNEX_Q_END", "4.4", BindComm, "The library ends this search.", true, NotDerived, insideQueues},

	{"PERUSE_COMM_N_SENDS", "12.1", BindComm, "The number of sends that the library makes in a collective call.", false, FromRequests,
		"the requests to send that the library activates in the call; a lower bound, as Open MPI raises no event for small messages that it sends at once"},
	{"PERUSE_COMM_N_RECVS", "12.1", BindComm, "The number of receives that the library makes in a collective call.", false, FromRequests,
		"the requests to receive that the library activates in the call"},
	{"PERUSE_COMM_T_BTWN_OPS", "12.1", BindComm, "The time between the sends and receives of a collective call.", false, FromRequests,
		"the mean time between the activations of the library's requests in the call"},
	{"PERUSE_FILE_N_DISK_ACCESSES_PER_IOREQ", "12.2", BindFile, "The number of accesses to the disk for a request.", false, NotDerived, insideFiles},
	{"PERUSE_FILE_N_SHIPPED_BYTES", "12.2", BindFile, "The bytes that a request exchanges with other processes instead of with the file.", false, NotDerived, insideFiles},
	{"PERUSE_FILE_N_ACCESS_BYTES", "12.2", BindFile, "The bytes that a request reads from or writes to the disk.", false, NotDerived, insideFiles},
	{"PERUSE_FILE_N_TEMP_FILES", "12.2", BindFile, "The number of temporary files that a request creates.", false, NotDerived, insideFiles},
	{"PERUSE_FILE_T_IOREQ_ACCESS", "12.2", BindFile, "The time of a request from its first access to the disk to its last one.", false, NotDerived, insideFiles},
	{"PERUSE_FILE_T_GET_SHARED_POINTER", "12.2", BindFile, "The time to obtain the shared file pointer.", false, FromCalls,
		"at most the time of a call with the shared file pointer: MPI_File_read_shared, MPI_File_write_ordered, MPI_File_seek_shared and so on"},
	{"PERUSE_FILE_T_FIRST_PHASE_IN_SPLIT_IO", "12.2", BindFile, "The time of the first phase of a split collective operation.", false, FromCalls,
		"at most the time of the call, such as MPI_File_write_all_begin"},
	{"PERUSE_FILE_T_SECOND_PHASE_IN_SPLIT_IO", "12.2", BindFile, "The time of the second phase of a split collective operation.", false, FromCalls,
		"at most the time of the call, such as MPI_File_write_all_end"},
	{"PERUSE_WIN_T_BTWN_REQ_AND_XFER", "12.3", BindWin, "The time from the request of a one-sided operation to the begin of its transfer.", false, NotDerived, insideWindows},
	{"PERUSE_WIN_T_XFER", "12.3", BindWin, "The time of the transfer of a one-sided operation.", false, NotDerived, insideWindows},
	{"PERUSE_SPAWN_START", "12.5", BindComm, "MPI_Comm_spawn or MPI_Comm_spawn_multiple begins to start processes.", false, FromCalls, "the beginning of the call"},
	{"PERUSE_SPAWN_END", "12.5", BindComm, "The new processes have been started.", false, FromCalls, "the end of the call"},
	{"PERUSE_WIN_REQ_XFER_BEGIN", "12.6", BindWin, "The transfer of a one-sided operation's data begins.", false, NotDerived, insideWindows},
	{"PERUSE_WIN_REQ_XFER_END", "12.6", BindWin, "The transfer of a one-sided operation's data ends.", false, NotDerived, insideWindows},
	{"PERUSE_WIN_SYNC_BEGIN", "12.6", BindWin, "A call that synchronises a window begins: MPI_Win_fence, _start, _complete, _post, _wait, _lock, _unlock and so on.", false, FromCalls,
		"the beginning of the call, with its kind"},
	{"PERUSE_WIN_SYNC_END", "12.6", BindWin, "A call that synchronises a window ends.", false, FromCalls, "the end of the call, with its kind"},
}
