package wrapgen

import (
	"cmp"
	"slices"
	"strings"
)

// State is how a function's wrapper writes the state of its thread (chain/state.h).
type State struct {
	Arguments string // an OR of enum chain_argument; "" if the function has no state
	Open      string // C code that stores the arguments in *state
	Done      string // C code for the end of a call: whether it was progress
	Locals    string // C code at the start of the wrapper
	Posts     string // C code after a call that starts a request
}

// Functions that may wait although their kind does not say so.
var waiting = []string{"MPI_Buffer_detach", "MPI_Buffer_detach_c", "MPI_Buffer_flush", "MPI_Comm_flush_buffer", "MPI_Session_flush_buffer",
	"MPIX_Comm_agree", "MPI_Request_get_status_all", "MPI_Request_get_status_any", "MPI_Request_get_status_some",
	"MPI_Comm_set_info", "MPI_Win_set_info", "MPI_Lookup_name", "MPI_Publish_name", "MPI_Unpublish_name", "MPI_Finalize", "MPI_Session_finalize",
	"MPI_Abort"}

// Functions of these kinds that are neither collective nor wait for others.
var local = []string{"MPI_Comm_get_parent", "MPI_Request_free", "MPI_Pready", "MPI_Pready_list", "MPI_Pready_range"}

var polling = []string{"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status",
	"MPI_Request_get_status_all", "MPI_Request_get_status_any", "MPI_Request_get_status_some", "MPI_Parrived", "MPI_Win_test"}

// Functions that make objects, but not by a call of each process of comm, or of another communicator than comm.
var uncounted = []string{"MPI_Comm_create_group", "MPI_Comm_get_parent", "MPI_Comm_join", "MPI_Comm_create_from_group",
	"MPI_Intercomm_create_from_groups"}

// has reports whether a parameter has this name and type.
func (f Function) has(name, kind string) bool {
	return slices.ContainsFunc(f.Parameters, func(p Parameter) bool {
		// Headers write "int *flag" or "int* flag".
		return p.Name == name && strings.ReplaceAll(p.Before, " ", "") == strings.ReplaceAll(kind, " ", "") && p.After == ""
	})
}

// object returns the parameter that is the window, file or communicator of a call, and its enum chain_argument; "" if there is none.
func (f Function) object() (name, bit string) {
	for _, o := range []struct{ name, kind, bit string }{{"win", "MPI_Win", "CHAIN_WINDOW"}, {"fh", "MPI_File", "CHAIN_FILE"},
		{"comm", "MPI_Comm", "CHAIN_COMM"}, {"comm_old", "MPI_Comm", "CHAIN_COMM"}, {"local_comm", "MPI_Comm", "CHAIN_COMM"}, {"intercomm", "MPI_Comm", "CHAIN_COMM"}} {
		if f.has(o.name, o.kind) {
			return o.name, o.bit
		}
	}
	return "", ""
}

// describesObject is C code for calls that carry nothing, of functions whose object is what their class says; else "". Locks and flushes have a target.
func (f Function) describesObject() string {
	k, _ := lookKind(f.Kind)
	name, bit := f.object()
	if of := map[string]string{"RMA": "CHAIN_WINDOW", "IO": "CHAIN_FILE"}[k.class]; k.before+k.sizes != "" || bit != cmp.Or(of, "CHAIN_COMM") {
		return ""
	}
	code := "describe_object(call, HANDLE_NUMBER(" + name + "));"
	if k.class == "RMA" && f.has("rank", "int") {
		code += " call->peer = rank;"
	}
	if f.has("lock_type", "int") {
		code += " call->exclusive = lock_type == MPI_LOCK_EXCLUSIVE && !(assert & MPI_MODE_NOCHECK);"
	}
	return code
}

// State derives the state from the parameters' names in the table.
func (f Function) State() State {
	k, _ := lookKind(f.Kind)
	makes := strings.Contains(k.traffic, objects) && f.Name != "MPI_Comm_set_name" && f.Name != "MPI_Win_set_name"
	if f.isValue() || slices.Contains(local, f.Name) || (k.class == "OTHER" || k.class == "TOOL") && !makes && f.Kind != "starts" && !slices.Contains(waiting, f.Name) ||
		f.Kind == "absent" || f.Kind == "pcontrol" || k.hooked != "" && !slices.Contains(waiting, f.Name) {
		return State{}
	}
	s := State{}
	var bits []string
	set := func(member, value string, bit ...string) {
		s.Open += " state->" + member + " = " + value + ";"
		bits = append(bits, bit...)
	}
	of, object := "", "0" // of: CHAIN_COMM, …
	if name, bit := f.object(); name != "" {
		object, of = "HANDLE_NUMBER("+name+")", bit
		set("object", object, bit)
	}
	for _, p := range []struct{ kind, value, bit string }{{"comm_free", "comm", "CHAIN_COMM"}, {"win_free", "win", "CHAIN_WINDOW"}, {"file_close", "fh", "CHAIN_FILE"}} {
		if of == "" && f.Kind == p.kind { // MPI_Comm *comm
			of = p.bit
			set("object", map[string]string{"comm": "describe_comm_number(", "win": "describe_win_number(", "fh": "describe_file_number("}[p.value]+p.value+")", p.bit)
		}
	}
	peer := ""
	for _, p := range []struct{ name, bit string }{{"dest", "CHAIN_DESTINATION"}, {"source", "CHAIN_SOURCE"}, {"root", "CHAIN_ROOT"},
		{"target_rank", "CHAIN_TARGET"}, {"rank", "CHAIN_TARGET"}} {
		if f.has(p.name, "int") && (p.name != "rank" || k.class == "RMA") {
			peer = p.name
			set("peer", p.name, p.bit)
			break
		}
	}
	tag := ""
	for _, name := range []string{"tag", "sendtag"} {
		if f.has(name, "int") && k.class == pointToPoint {
			tag = name
			set("tag", name, "CHAIN_TAG")
		}
	}
	exchange := f.has("recvtag", "int") && f.has("source", "int")
	if exchange {
		set("source", "source")
		set("source_tag", "recvtag", "CHAIN_EXCHANGE")
	}
	f.stateBytes(k, set)
	isRequest := k.class == "COMPLETION" || strings.HasPrefix(f.Name, "MPI_Request_get_status")
	switch count := map[bool]string{true: "count", false: "incount"}[f.has("count", "int")]; {
	case !isRequest:
	case f.has("request", "MPI_Request *"):
		set("request", "describe_request_number(describe_request(request))", "CHAIN_REQUEST")
	case f.has("request", "MPI_Request"):
		set("request", "describe_request_number(request)", "CHAIN_REQUEST")
	case f.has(count, "int") && slices.ContainsFunc(f.Parameters, func(p Parameter) bool { return p.Name == "array_of_requests" }):
		set("request", "(uint64_t)(uintptr_t)array_of_requests")
		set("count", "(uint32_t)"+count, "CHAIN_REQUESTS")
	}
	if f.collective(of, k.class == collectiveStr || makes) {
		set("collective", "chain_state_count("+map[string]string{"CHAIN_COMM": "CALL_COMM", "CHAIN_WINDOW": "CALL_WIN", "CHAIN_FILE": "CALL_FILE"}[of]+", state->object)", "CHAIN_COLLECTIVE")
		root := "CALL_NONE"
		if peer == "root" {
			root = "root"
		}
		s.Open += " chain_state_entered(state, " + root + ");"
	}
	s.Done = "false"
	if slices.Contains(polling, f.Name) {
		bits = append(bits, "CHAIN_POLLS")
		switch {
		case f.Name == "MPI_Iprobe" || strings.HasPrefix(f.Name, "MPI_Request_get_status") || f.Name == "MPI_Parrived":
		case f.has("outcount", "int *"):
			s.Done = "rc == MPI_SUCCESS && *outcount > 0"
		default:
			s.Done = "rc == MPI_SUCCESS && *flag"
		}
		if found := map[bool]string{true: "*outcount > 0", false: "*flag"}[f.has("outcount", "int *")]; strings.Contains(strings.Join(bits, "|"), "CHAIN_REQUEST") || peer != "" {
			s.Posts = "if (rc == MPI_SUCCESS) { chain_state_tested(" + found + "); }"
		}
	}
	if !isRequest && f.has("request", "MPI_Request *") {
		from, with := "CALL_NONE", "CALL_NONE"
		if k.class == pointToPoint && peer != "" && tag != "" {
			from, with = peer, tag
		}
		if exchange {
			from, with = "source", "recvtag"
		}
		number := ""
		if strings.Contains(s.Open, "chain_state_count(") {
			number = " posted_number(HANDLE_NUMBER(*request), (uint32_t)chain_state_thread.state->collective);"
			if strings.HasSuffix(strings.TrimSuffix(f.Name, "_c"), "_init") {
				number = " chain_state_made(*request, " + object + ");"
			}
		}
		s.Posts = "if (rc == MPI_SUCCESS) { posted_add(HANDLE_NUMBER(*request), ID_" + f.Name + f.posts() + ", " + object + ", " + from + ", " + with + ");" + number + " }"
	}
	f.messages(&s, object)
	if strings.Contains(s.Open, "chain_state_count(") {
		s.Posts = strings.TrimSpace(s.Posts + " if (rc != MPI_SUCCESS) { chain_state_failed(); }")
	}
	f.onWindow(&s, k)
	if !slices.Contains(polling, f.Name) {
		s.Open += " " + f.progress()
	}
	s.Open = strings.TrimSpace(s.Open)
	s.Arguments = strings.Join(append(bits, "CALL_"+k.class+" << CHAIN_ARGUMENT_KIND", "1u << 31"), "|")
	return s
}

// collective reports whether each process of the call's object calls it, in the same order. of is the object's enum chain_argument; comms:
// it would be, on a communicator.
func (f Function) collective(of string, comms bool) bool {
	name := strings.TrimSuffix(f.Name, "_c")
	switch of {
	case "CHAIN_COMM":
		return (comms || slices.Contains([]string{"MPIX_Comm_agree", "MPI_Comm_set_info", "MPI_File_open"}, name)) && !slices.Contains(uncounted, f.Name)
	case "CHAIN_WINDOW":
		return slices.Contains([]string{"MPI_Win_fence", "MPI_Win_free", "MPI_Win_set_info"}, name)
	case "CHAIN_FILE":
		return slices.Contains(onFiles, name) || strings.HasSuffix(name, "_all") || strings.Contains(name, "_all_") || strings.Contains(name, "_ordered")
	}
	return false
}

// Collective functions on files, further to those of all processes that read and write.
var onFiles = []string{"MPI_File_close", "MPI_File_set_size", "MPI_File_preallocate", "MPI_File_set_info", "MPI_File_set_view", "MPI_File_seek_shared",
	"MPI_File_set_atomicity", "MPI_File_sync"}

// stateBytes stores the size of a message where its arguments are valid in every process. Collectives may ignore some of them.
func (f Function) stateBytes(k kind, set func(member, value string, bit ...string)) {
	for _, p := range [][2]string{{"count", "datatype"}, {"sendcount", "sendtype"}, {"origin_count", "origin_datatype"}} {
		valid := k.class == pointToPoint || k.class == collectiveStr && p[0] == "count" || k.class == "IO" ||
			slices.Contains([]string{"put", "get", "rput", "rget"}, f.Kind)
		if valid && (f.has(p[0], "int") || f.has(p[0], "MPI_Count")) && f.has(p[1], "MPI_Datatype") {
			set("bytes", "describe_begun_bytes("+p[0]+", "+p[1]+")", "CHAIN_BYTES")
			return
		}
	}
}

// posts is how a request is posted: with which bits of struct posted's function.
func (f Function) posts() string {
	switch f.Kind {
	case "irecv":
		return " | (source == MPI_PROC_NULL ? 0 : POSTED_RECEIVES | POSTED_ACTIVE)"
	case "isendrecv", "isendrecv_replace":
		return " | (source == MPI_PROC_NULL ? 0 : POSTED_RECEIVES | POSTED_ACTIVE)"
	case "recv_init", "precv_init":
		return " | (source == MPI_PROC_NULL ? 0 : POSTED_RECEIVES)"
	case "send_init", "psend_init":
		return " | POSTED_SENDS"
	}
	return ""
}

// messages adds code that counts messages (chain/messages.h).
func (f Function) messages(s *State, object string) {
	after := func(condition, code string) {
		s.Posts = strings.TrimSpace(s.Posts + " if (rc == MPI_SUCCESS" + condition + ") { " + code + " }")
	}
	const all, one = "messages_save(state, %s, array_of_requests);", "MPI_Status where_status;"
	own := func() {
		s.Locals = one
		s.Open += " if (status == MPI_STATUS_IGNORE) status = &where_status;"
	}
	flag := ""
	if f.has("flag", "int *") {
		flag = " && *flag"
	}
	switch f.Kind {
	case "send", "isend":
		s.Open += " messages_sent(" + object + ", dest, tag);"
	case "sendrecv", "sendrecv_replace":
		own()
		s.Open += " messages_sent(" + object + ", dest, sendtag);"
		after("", "messages_received("+object+", source, recvtag, status);")
	case "isendrecv", "isendrecv_replace":
		s.Open += " messages_sent(" + object + ", dest, sendtag);"
		after("", "messages_posted(source);")
	case "irecv":
		after("", "messages_posted(source);")
	case "recv", "mprobe", "improbe": // a matched message is received
		own()
		after(flag, "messages_received("+object+", source, tag, status);")
	case "start":
		s.Open += " messages_started(state->request);"
	case "startall":
		s.Open += " messages_start_all(count, array_of_requests);"
	case "cancel":
		s.Open += " posted_cancel(state->request);"
	case "wait", "test":
		own()
		after(flag, "messages_completed_one(state->request, status);")
	case "waitany", "testany":
		own()
		s.Open += " " + strings.Replace(all, "%s", "count", 1)
		after(flag, "messages_some(state, 1, index, status);")
	case "waitall", "testall":
		s.Open += " " + strings.Replace(all, "%s", "count", 1)
		after(flag, "messages_some(state, 0, NULL, array_of_statuses);")
	case "somecomplete":
		s.Open += " " + strings.Replace(all, "%s", "incount", 1)
		after(" && *outcount > 0", "messages_some(state, *outcount, array_of_indices, array_of_statuses);")
	}
}
