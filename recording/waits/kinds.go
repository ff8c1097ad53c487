package waits

import "strings"

// Kind is why a call waited.
type Kind uint8

// The kinds. docs/waits.md has their definitions.
const (
	None Kind = iota
	LateSender
	WrongOrder // a late sender while another message, which the rank received later, was there
	LateReceiver
	AtBarrier
	NToN
	AtNeighbors
	LateRoot
	EarlyRoot
	Prefix
	AtWindow
	LatePost
	LateComplete
	Locked // an exclusive lock of another rank on the window's memory
	CollectiveIO
	Management // communicators, groups and windows that are made or freed together
	Kinds      // their number

	lateSynchronous Kind = 64 // of an edge: a late receiver of a synchronous send
	starts          Kind = 65 // of an edge: the call does not wait, others wait for it
	latePartitioned Kind = 66 // of an edge: a late receiver of a partitioned send
)

var kindNames = [Kinds]string{"not waiting", "late sender", "late sender, wrong order", "late receiver", "wait at barrier", "wait at N x N", "wait at neighbours", "late root", "early root", "wait in scan",
	"wait at window", "late post", "late complete", "lock contention", "wait in collective I/O", "wait in management"}

// ofReceiver reports whether an edge is a late receiver that libraries need not wait for.
func (k Kind) ofReceiver() bool { return k == LateReceiver || k == latePartitioned }

func (k Kind) String() string { return kindNames[k] }

// MarshalText implements encoding.TextMarshaler.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// shape is which ranks of a collective wait for which.
type shape uint8

const (
	allForAll shape = iota + 1
	fromRoot
	toRoot
	fromLower
	fromNeighbors // see Program.link
)

// shapes of the collectives.
var shapes = func() map[string]shape {
	all := map[string]shape{}
	for shape, names := range map[shape]string{
		allForAll:     "Barrier Allgather Allgatherv Alltoall Alltoallv Alltoallw Allreduce Reduce_scatter Reduce_scatter_block",
		fromRoot:      "Bcast Scatter Scatterv",
		toRoot:        "Gather Gatherv Reduce",
		fromLower:     "Scan Exscan",
		fromNeighbors: "Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw",
	} {
		for _, name := range strings.Fields(names) {
			all["MPI_"+name] = shape
		}
	}
	for _, name := range strings.Fields("Comm_create Comm_dup Comm_dup_with_info Comm_split Comm_split_type Comm_spawn Comm_spawn_multiple Comm_disconnect Comm_create_group Intercomm_create Intercomm_merge Cart_create Cart_sub Graph_create Dist_graph_create " +
		"Dist_graph_create_adjacent Win_create Win_allocate Win_allocate_shared Win_create_dynamic Win_free Win_fence File_open File_close " +
		"File_set_size File_preallocate File_set_view File_set_atomicity File_seek_shared") {
		all["MPI_"+name] = allForAll
	}
	for _, verb := range []string{"read", "write"} {
		for _, how := range []string{"_all", "_at_all", "_ordered"} {
			all["MPI_File_"+verb+how] = allForAll
		}
	}
	return all
}()

// collective is how calls of a function take part in collectives.
type collective uint8

const (
	blocking    collective = iota
	nonblocking            // another call completes it
	persistent             // it makes what others start and complete
	split                  // it begins one on a file, and may wait; another call ends it
	splitEnd
	making // its ranks are those of the communicator that it makes
)

// shapeOf is the shape of a function, and how it takes part; 0: it is not a collective, or nothing is known of its waits.
func shapeOf(function string) (shape, collective) {
	name := strings.TrimSuffix(function, "_c")
	switch s := shapes[name]; {
	case name == "MPI_Comm_create_group", name == "MPI_Intercomm_create":
		return s, making
	case s != 0:
		return s, blocking
	}
	if s := shapes[strings.TrimSuffix(name, "_init")]; s != 0 {
		return s, persistent
	}
	if begun, ok := strings.CutSuffix(name, "_begin"); ok {
		return shapes[begun], split
	}
	if ended, ok := strings.CutSuffix(name, "_end"); ok {
		return shapes[ended], splitEnd
	}
	return shapes[plain(name)], nonblocking
}

// plain is the blocking function that a nonblocking one is named after.
func plain(function string) string {
	if rest, ok := strings.CutPrefix(function, "MPI_File_i"); ok {
		return "MPI_File_" + rest
	}
	if rest, ok := strings.CutPrefix(function, "MPI_I"); ok && rest != "" {
		if blocking := "MPI_" + strings.ToUpper(rest[:1]) + rest[1:]; shapes[blocking] != 0 { // not MPI_Intercomm_merge
			return blocking
		}
	}
	if function == "MPI_Comm_idup" || function == "MPI_Comm_idup_with_info" {
		return "MPI_Comm_dup"
	}
	return function
}

// kindOf is the kind of the waits in a collective.
func kindOf(function string, s shape) Kind {
	switch function = plain(function); {
	case strings.HasPrefix(function, "MPI_Barrier"):
		return AtBarrier
	case strings.HasPrefix(function, "MPI_File_"):
		return CollectiveIO
	case strings.HasPrefix(function, "MPI_Win_fence"):
		return AtWindow
	case strings.HasPrefix(function, "MPI_Comm_"), strings.HasPrefix(function, "MPI_Intercomm_"), strings.HasPrefix(function, "MPI_Cart_"), strings.HasPrefix(function, "MPI_Graph_"), strings.HasPrefix(function, "MPI_Dist_"),
		strings.HasPrefix(function, "MPI_Win_"):
		return Management
	case s == fromRoot:
		return LateRoot
	case s == toRoot:
		return EarlyRoot
	case s == fromLower:
		return Prefix
	case s == fromNeighbors:
		return AtNeighbors
	}
	return NToN
}
