package wrapgen

import (
	"cmp"
	"strings"
)

// A kind is what a function's calls do, as C code for its wrapper. Parameters have the names of the table.
type kind struct {
	class   string // enum call_kind without the prefix
	traffic string // OR of enum call_traffic
	early   string // for all calls, before the check whether the call counts
	locals  string
	sizes   string // described calls, and again after one that succeeded if a size was not known: it only assigns
	before  string // described calls
	after   string // described calls that succeeded
	always  string // described calls, also those that failed; replaces after
	hook    string // calls with the hook flag that returned, before observers see them
	hooked  string // calls with the hook flag, before the library is called
}

const (
	sends, receives, requests   = "CALL_SENDS", "CALL_RECEIVES", "CALL_REQUESTS"
	completes, objects          = "CALL_COMPLETES", "CALL_OBJECTS"
	frees                       = "CALL_FREES"
	remembered                  = "CALL_REMEMBERED"
	ownStatus                   = "MPI_Status own_status;"
	status                      = "if (status == MPI_STATUS_IGNORE) status = &own_status;"
	peerDest, peerSource        = "describe_peer(call, dest, tag, comm);", "describe_peer(call, source, tag, comm);"
	send                        = "describe_send(call, count, datatype, dest, tag, comm);"
	exchanging                  = "describe_source(call, source, recvtag);"
	messageSent                 = "describe_sent(call);"
	matching                    = "describe_matching(call, message);"
	started                     = "describe_started(call, request, %s);"
	persistent                  = "describe_persistent(call, request, %s);"
	partitioned                 = "describe_partitioned(call, request, partitions, %s);"
	saved                       = "struct describe_saved saved;"
	allCompletions              = receives + "|" + requests + "|" + completes
	pointToPoint, collectiveStr = "POINT_TO_POINT", "COLLECTIVE"
)

func makes(pattern, what string) string { return strings.Replace(pattern, "%s", what, 1) }

var kinds = map[string]kind{
	"-":   {class: "OTHER"},
	"old": {class: "OTHER", traffic: "CALL_FORWARDS"},

	"send":      {class: pointToPoint, traffic: sends, sizes: send, after: messageSent},
	"isend":     {class: pointToPoint, traffic: sends + "|" + requests, sizes: send, after: makes(started, "REQUEST_SEND") + " " + messageSent},
	"send_init": {class: pointToPoint, traffic: sends + "|" + requests, sizes: send, after: makes(persistent, "REQUEST_SEND")},
	"recv": {class: pointToPoint, traffic: receives, locals: ownStatus, before: peerSource + " " + status,
		after: "describe_received(call, status);"},
	"irecv": {class: pointToPoint, traffic: receives + "|" + requests, before: peerSource,
		after: makes(started, "describe_receive(source)")},
	"recv_init": {class: pointToPoint, traffic: receives + "|" + requests, before: peerSource,
		after: makes(persistent, "describe_receive(source)")},
	"sendrecv": {class: pointToPoint, traffic: sends + "|" + receives, locals: ownStatus,
		sizes: "describe_send(call, sendcount, sendtype, dest, sendtag, comm); " + exchanging, before: status,
		after: messageSent + " describe_received(call, status);"},
	"sendrecv_replace": {class: pointToPoint, traffic: sends + "|" + receives, locals: ownStatus,
		sizes: "describe_send(call, count, datatype, dest, sendtag, comm); " + exchanging, before: status,
		after: messageSent + " describe_received(call, status);"},
	"isendrecv": {class: pointToPoint, traffic: sends + "|" + receives + "|" + requests,
		sizes: "describe_send(call, sendcount, sendtype, dest, sendtag, comm); describe_bytes(call, recvcount, recvtype); " + exchanging,
		after: messageSent + " describe_exchange(call, request, recvcount, recvtype);"},
	"isendrecv_replace": {class: pointToPoint, traffic: sends + "|" + receives + "|" + requests,
		sizes: "describe_send(call, count, datatype, dest, sendtag, comm); " + exchanging,
		after: messageSent + " describe_exchange(call, request, count, datatype);"},
	"mrecv": {class: pointToPoint, traffic: receives, locals: ownStatus, before: matching + " " + status,
		after: "describe_received(call, status);"},
	"imrecv": {class: pointToPoint, traffic: receives + "|" + requests, before: matching, after: makes(started, "REQUEST_RECEIVE")},
	"psend_init": {class: pointToPoint, traffic: sends + "|" + requests,
		sizes: "describe_send(call, (int64_t)partitions * count, datatype, dest, tag, comm);",
		after: makes(partitioned, "REQUEST_PARTITIONED_SEND")},
	"precv_init": {class: pointToPoint, traffic: receives + "|" + requests,
		sizes: "describe_partitions(call, (int64_t)partitions * count, datatype, source, tag, comm);",
		after: makes(partitioned, "REQUEST_PARTITIONED_RECEIVE")},
	"probe":   {class: pointToPoint, before: peerSource},
	"mprobe":  {class: pointToPoint, before: peerSource, after: "describe_matched(call, message);"},
	"improbe": {class: pointToPoint, before: peerSource, after: "if (*flag) describe_matched(call, message);"},

	"wait": {class: "COMPLETION", traffic: allCompletions, locals: ownStatus + " MPI_Request before = describe_request(request);",
		before: status + " describe_requests(call, 1, request);",
		always: "describe_completed(call, before, describe_request(request), rc == MPI_SUCCESS ? status : NULL);"},
	"test": {class: "COMPLETION", traffic: allCompletions, locals: ownStatus + " MPI_Request before = describe_request(request);",
		before: status + " describe_requests(call, 1, request);",
		always: "if (rc != MPI_SUCCESS || *flag) describe_completed(call, before, describe_request(request), rc == MPI_SUCCESS ? status : NULL);"},
	"waitany": {class: "COMPLETION", traffic: allCompletions, locals: ownStatus + " " + saved,
		before: status + " describe_requests(call, count, array_of_requests); describe_save(&saved, count, array_of_requests, 0);",
		always: "describe_completed_any(call, &saved, rc, 1, index, array_of_requests, status);"},
	"testany": {class: "COMPLETION", traffic: allCompletions, locals: ownStatus + " " + saved,
		before: status + " describe_requests(call, count, array_of_requests); describe_save(&saved, count, array_of_requests, 0);",
		always: "describe_completed_any(call, &saved, rc, rc == MPI_SUCCESS && *flag, index, array_of_requests, status);"},
	"waitall": {class: "COMPLETION", traffic: allCompletions, locals: saved,
		before: "describe_requests(call, count, array_of_requests); " +
			"array_of_statuses = describe_save(&saved, count, array_of_requests, array_of_statuses);",
		always: "describe_completed_all(call, &saved, rc, 1, array_of_requests, array_of_statuses);"},
	"testall": {class: "COMPLETION", traffic: allCompletions, locals: saved,
		before: "describe_requests(call, count, array_of_requests); " +
			"array_of_statuses = describe_save(&saved, count, array_of_requests, array_of_statuses);",
		always: "describe_completed_all(call, &saved, rc, rc == MPI_SUCCESS && *flag, array_of_requests, array_of_statuses);"},
	"somecomplete": {class: "COMPLETION", traffic: allCompletions, locals: saved,
		before: "describe_requests(call, incount, array_of_requests); " +
			"array_of_statuses = describe_save(&saved, incount, array_of_requests, array_of_statuses);",
		always: "describe_completed_some(call, &saved, rc, outcount, array_of_indices, array_of_requests, array_of_statuses);"},
	"start": {class: "COMPLETION", traffic: sends + "|" + receives + "|" + requests, before: "describe_requests(call, 1, request);",
		after: "describe_restarted(call, 1, request);"},
	"startall": {class: "COMPLETION", traffic: sends + "|" + receives + "|" + requests,
		before: "describe_requests(call, count, array_of_requests);",
		after:  "describe_restarted(call, count, array_of_requests);"},
	"request_free": {class: "COMPLETION", traffic: receives + "|" + requests, locals: "struct request freed;",
		before: "describe_requests(call, 1, request); describe_freeing(call, describe_request(request), &freed);",
		always: "describe_freed(call, rc, &freed);"},
	"cancel": {class: "COMPLETION", traffic: requests, before: "describe_requests(call, 1, request);",
		after: "describe_cancelling(call, describe_request(request));"},
	"completion": {class: "COMPLETION"},
	"ready":      {class: "COMPLETION", after: "describe_ready(call, request);"},
	"starts":     {class: "OTHER", traffic: requests, after: makes(started, "REQUEST_OTHER")},

	"put":             rma("describe_rma(call, origin_count, origin_datatype, 0, 0, target_rank, win);", false, sends),
	"get":             rma("describe_rma(call, 0, 0, origin_count, origin_datatype, target_rank, win);", false, receives),
	"get_accumulate":  rma("describe_rma(call, "+given("origin_count")+", origin_datatype, result_count, result_datatype, target_rank, win);", false, sends+"|"+receives),
	"fetch_op":        rma("describe_rma(call, "+given("1")+", datatype, 1, datatype, target_rank, win);", false, sends+"|"+receives),
	"swap":            rma("describe_rma(call, 1, datatype, 1, datatype, target_rank, win);", false, sends+"|"+receives),
	"rput":            rma("describe_rma(call, origin_count, origin_datatype, 0, 0, target_rank, win);", true, sends),
	"rget":            rma("describe_rma(call, 0, 0, origin_count, origin_datatype, target_rank, win);", true, receives),
	"rget_accumulate": rma("describe_rma(call, "+given("origin_count")+", origin_datatype, result_count, result_datatype, target_rank, win);", true, sends+"|"+receives),
	"rma":             {class: "RMA"},

	"file_read": {class: "IO", traffic: receives, locals: ownStatus, before: "describe_file(call, fh); " + status,
		after: "call->got = describe_status_bytes(status);"},
	"file_write": {class: "IO", traffic: sends, locals: ownStatus, before: "describe_file(call, fh); " + status,
		after: "call->gave = describe_status_bytes(status);"},
	"ifile_read": {class: "IO", traffic: receives + "|" + requests, after: makes(started, "REQUEST_FILE_READ"),
		before: "describe_file(call, fh);"},
	"ifile_write": {class: "IO", traffic: sends + "|" + requests, after: makes(started, "REQUEST_FILE_WRITE"),
		sizes: "describe_file(call, fh); call->gave = describe_bytes(call, count, datatype);"},
	"file_open": {class: "IO", traffic: objects, after: "describe_object(call, HANDLE_NUMBER(*fh));",
		hook: "if (rc == MPI_SUCCESS) describe_file_opened(record->function, fh, comm, filename);"},
	"file_close": freeing("IO", "file", "fh", "describe_file_closing"),
	"file":       {class: "IO"},

	"comm_new": {class: "OTHER", traffic: objects,
		hook: "if (rc == MPI_SUCCESS) describe_comm_created(record->function, NEW, PARENT);"},
	"comm_idup": {class: "OTHER", traffic: objects + "|" + requests,
		after: makes(started, "REQUEST_OTHER"),
		hook:  "if (rc == MPI_SUCCESS) describe_comm_idup(record->function, newcomm, comm, request);"},
	"spawn":          spawn("1, (char *[]){(char *)command}, (char **[]){argv}, &maxprocs, &info", "command = spawn.commands[0]; argv = spawn.argvs[0];"),
	"spawn_multiple": spawn("count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info", "array_of_commands = spawn.commands; array_of_argv = spawn.argvs;"),
	"comm_free":      freeing("OTHER", "comm", "comm", "describe_comm_freeing"),
	"comm_named":     {class: "OTHER", traffic: objects, hook: "if (rc == MPI_SUCCESS) describe_comm_named(comm, comm_name);"},
	"win_new": {class: "RMA", traffic: objects, after: "describe_object(call, HANDLE_NUMBER(*NEW));",
		hook: "if (rc == MPI_SUCCESS) describe_win_created(record->function, NEW, PARENT);"},
	"win_free":  freeing("RMA", "win", "win", "describe_win_freeing"),
	"win_named": {class: "RMA", traffic: objects, hook: "if (rc == MPI_SUCCESS) describe_win_named(win, win_name);"},
	"type_free": {class: "OTHER", traffic: frees, early: "describe_type_freeing(datatype);"},
	"type_made": {class: "OTHER", traffic: remembered, hook: "if (rc == MPI_SUCCESS) describe_type_made(NEW);"},

	"group_made": {class: "OTHER", traffic: remembered, hook: "if (rc == MPI_SUCCESS) describe_group_made(NEW);"},
	"group_free": {class: "OTHER", traffic: remembered, early: "describe_group_freeing(group);"},

	"info_set":    {class: "OTHER", traffic: remembered, hook: "if (rc == MPI_SUCCESS) describe_info_set(info, key, true);"},
	"info_delete": {class: "OTHER", traffic: remembered, hook: "if (rc == MPI_SUCCESS) describe_info_set(info, key, false);"},
	"info_dup":    {class: "OTHER", traffic: remembered, hook: "if (rc == MPI_SUCCESS) describe_info_dup(info, newinfo);"},
	"info_free":   {class: "OTHER", traffic: remembered, early: "describe_info_freeing(info);"},

	"init": {class: "OTHER", hooked: "chain_before_init(record);", hook: "int started = chain_started(record, rc, false); chain_after_init(record, started, started == MPI_SUCCESS ? describe_level(-1) : -1, false);"},
	"init_thread": {class: "OTHER", hooked: "chain_before_init(record);",
		hook: "int started = chain_started(record, rc, false); chain_after_init(record, started, started == MPI_SUCCESS ? describe_level(*provided) : -1, false);"},
	"session_init": {class: "OTHER", hooked: "chain_before_init(record);",
		hook: "int started = chain_started(record, rc, true); chain_after_init(record, started, started == MPI_SUCCESS ? describe_level(-1) : -1, true);"},
	"finalize":         {class: "OTHER", hooked: "peers_end(); chain_owner->before_finalize(false);", hook: "chain_after_finalize(record, rc);"},
	"session_finalize": {class: "OTHER", hooked: "chain_owner->before_finalize(true);", hook: "chain_after_finalize(record, rc);"},
	"abort":            {class: "OTHER", hooked: "chain_owner->before_abort();"},

	"tool":     {class: "TOOL"},
	"pcontrol": {class: "OTHER"}, // pcontrol.h

	"value":      {class: "VALUE"},
	"conversion": {class: "CONVERSION"}, // not counted if libraries' Fortran interfaces make it
}

// given is a count that does not apply if the operation only fetches.
func given(count string) string { return "op == NO_OP ? 0 : " + count }

// freeing describes calls that free the object that a parameter points to.
func freeing(class, object, parameter, before string) kind {
	number := "describe_" + object + "_number(" + parameter + ")"
	return kind{class: class, traffic: objects + "|" + frees, early: before + "(" + parameter + ");", locals: "const uint64_t freed = " + number + ";",
		before: "describe_object(call, freed);", hook: "describe_object_freed(freed);"}
}

// spawn describes calls that start the commands given.
func spawn(given, replace string) kind {
	return kind{class: "OTHER", traffic: objects, locals: "struct describe_spawn spawn = {0};",
		hooked: "describe_spawning(&spawn, root, comm, " + given + "); if (spawn.commands) { " + replace + " }",
		hook:   "describe_spawned(&spawn, record->function, rc, root, comm, intercomm);"}
}

func rma(sizes string, request bool, traffic string) kind {
	k := kind{class: "RMA", traffic: traffic, sizes: sizes, after: "describe_moved(call);"}
	if request {
		k.traffic += "|" + requests
		k.after += " " + makes(started, "REQUEST_OTHER")
	}
	return k
}

// collectives have one description each for all forms: blocking, nonblocking (i…), persistent (…_init).
var collectives = map[string]string{
	"barrier":              "describe_collective(call, comm);",
	"bcast":                "describe_bcast(call, count, datatype, root, comm);",
	"reduce":               "describe_reduce(call, count, datatype, root, comm);",
	"allreduce":            "describe_allreduce(call, count, datatype, comm);",
	"scan":                 "describe_allreduce(call, count, datatype, comm);",
	"exscan":               "describe_exscan(call, count, datatype, comm);",
	"reduce_scatter":       "describe_reduce_scatter(call, recvcounts, sizeof *recvcounts, datatype, comm);",
	"reduce_scatter_block": "describe_reduce_scatter_block(call, recvcount, datatype, comm);",
	"gather":               "describe_gather(call, sendbuf, sendcount, sendtype, recvcount, recvtype, root, comm);",
	"gatherv":              "describe_gatherv(call, sendbuf, sendcount, sendtype, recvcounts, sizeof *recvcounts, recvtype, root, comm);",
	"scatter":              "describe_scatter(call, sendcount, sendtype, recvbuf, recvcount, recvtype, root, comm);",
	"scatterv":             "describe_scatterv(call, sendcounts, sizeof *sendcounts, sendtype, recvbuf, recvcount, recvtype, root, comm);",
	"allgather":            "describe_allgather(call, sendbuf, sendcount, sendtype, recvcount, recvtype, comm);",
	"allgatherv":           "describe_allgatherv(call, sendbuf, sendcount, sendtype, recvcounts, sizeof *recvcounts, recvtype, comm);",
	"alltoall":             "describe_alltoall(call, sendbuf, sendcount, sendtype, recvcount, recvtype, comm);",
	"alltoallv":            "describe_alltoallv(call, sendbuf, sendcounts, sendtype, recvcounts, sizeof *recvcounts, recvtype, comm);",
	"alltoallw":            "describe_alltoallw(call, sendbuf, sendcounts, sendtypes, recvcounts, sizeof *recvcounts, recvtypes, comm);",
	"neighbor_allgather":   "describe_neighbor_allgather(call, sendcount, sendtype, recvcount, recvtype, comm);",
	"neighbor_allgatherv":  "describe_neighbor_allgatherv(call, sendcount, sendtype, recvcounts, sizeof *recvcounts, recvtype, comm);",
	"neighbor_alltoall":    "describe_neighbor_alltoall(call, sendcount, sendtype, recvcount, recvtype, comm);",
	"neighbor_alltoallv":   "describe_neighbor_alltoallv(call, sendcounts, sendtype, recvcounts, sizeof *recvcounts, recvtype, comm);",
	"neighbor_alltoallw":   "describe_neighbor_alltoallw(call, sendcounts, sendtypes, recvcounts, sizeof *recvcounts, recvtypes, comm);",
}

// Carries returns the class of a function (enum call_kind without the prefix) and its calls' traffic (enum call_traffic).
func (f Function) Carries() (class string, traffic []string) {
	k, _ := lookKind(f.Kind)
	if k.traffic != "" {
		traffic = strings.Split(k.traffic, "|")
	}
	return k.class, traffic
}

// lookKind resolves a word of the table, such as "ibcast" or "comm_new:newcomm:comm".
func lookKind(word string) (kind, bool) {
	word, objects, _ := strings.Cut(word, ":")
	made, parent, _ := strings.Cut(objects, ":")
	if k, ok := kinds[word]; ok {
		named := strings.NewReplacer("NEW", made, "PARENT", cmp.Or(parent, "NULL_COMM"))
		k.hook, k.after = named.Replace(k.hook), named.Replace(k.after)
		return k, true
	}
	k := kind{class: collectiveStr, traffic: sends + "|" + receives}
	if sizes, ok := collectives[word]; ok {
		k.sizes = sizes
		return k, true
	}
	if sizes, ok := collectives[strings.TrimPrefix(word, "i")]; ok {
		k.sizes, k.after = sizes, makes(started, "REQUEST_COLLECTIVE")
		k.traffic += "|" + requests
		return k, true
	}
	if sizes, ok := collectives[strings.TrimSuffix(word, "_init")]; ok {
		k.sizes, k.after = sizes, makes(persistent, "REQUEST_COLLECTIVE")
		k.traffic += "|" + requests
		return k, true
	}
	return kind{class: "OTHER"}, false
}
