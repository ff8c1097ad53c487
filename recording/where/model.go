// Package where finds out from the states of all ranks of a job who waits for whom: groups of ranks in the same state, chains
// of waiting ranks, cycles, and calls that do not match. It computes on plain values; [Read] takes them from a run.
package where

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Job is what all processes of a job do.
type Job struct {
	Size      int // of MPI_COMM_WORLD; 0: unknown
	Processes []*Process
	earlier   *Job // an earlier look: see Compare
}

// Recorded reports whether there is anything to say: states, or processes that cannot be reached.
func (j *Job) Recorded() bool {
	return slices.ContainsFunc(j.Processes, func(p *Process) bool { return len(p.Threads) > 0 || p.Condition == Unreachable })
}

// Condition is the condition of a process.
type Condition uint8

// The conditions.
const (
	Running     Condition = iota
	Stopped               // by a signal such as SIGSTOP
	Dead                  // it was killed, or it crashed
	Finalized             // it has called MPI_Finalize, and may still be in it
	Exited                // it has ended, with MPI_Finalize or without
	Unreachable           // its state is in the memory of another node
	Missing               // it has not finished MPI_Init, or runs without the agent
	Unknown               // its state was not recorded
)

// Process is one process.
type Process struct {
	Rank      int
	PID       int
	Host      string
	Condition Condition
	End       End
	Threads   []*Thread // those that have called MPI
	Working   int       // further threads that may call MPI and do not wait for each other
	Dormant   int       // further threads that may call MPI once something wakes them: a signal, another process, input
	Objects   []*Object // its communicators, windows and files
	Epochs    []*Epoch  // of its windows
	Messages  *Messages // nil: they were not counted
}

// Object is a communicator, a window or a file in one process.
type Object struct {
	Name        string
	Made        string            // how it was made: "MPI_Comm_dup of MPI_COMM_WORLD"
	Kind        string            // "communicator", "window", "file"
	Identity    string            // equal in all processes that share the object; "" unknown
	Rank        int               // the process's rank in it; -1 unknown
	Size        int               // its processes, in an intercommunicator of both groups; 0 unknown
	Inter       bool              // an intercommunicator: peers are ranks of the remote group
	Side        uint64            // identifies the process's group in it
	Collectives uint64            // collective calls that the process has entered on it
	Failed      bool              // some of them failed: other processes may count differently
	Recent      []Entry           // the last ones of them
	Starts      map[uint64]uint64 // how often persistent collectives were started, by their numbers
}

// Entry is a collective call.
type Entry struct {
	Call   string // blocking or not
	Root   int    // NoRank: none, or unknown
	Number uint64 // on the object, from 1; 0: unknown
}

// Role is what a peer is.
type Role uint8

// The roles.
const (
	NoPeer Role = iota
	Destination
	Source
	Root
	Target
)

// The ranks that are no ranks.
const (
	AnySource = -1 - iota
	ProcNull
	NoRank // none, or unknown
)

// AnyTag is the tag of a receive that accepts all tags; NoTag that of a call without one.
const (
	AnyTag = -1 - iota
	NoTag
)

// Thread is the state of a thread.
type Thread struct {
	ID      int
	Inside  bool    // in the call; else it computes after it
	Sleeps  bool    // not in a call: it waits for another thread of its process
	Outside string  // not in a call: it sleeps there, in the kernel's words ("futex"; "unknown"); "": it computes
	Busy    bool    // with Outside: other threads of its process compute
	Unclear bool    // not in a call: what it does there is not known
	Inner   *Thread // the call that a callback of this call is in; nil: none
	Call    string  // "MPI_Recv"; "" if it has made none
	Class   Class

	Object            *Object // nil: none, or unknown
	HasObject         bool
	Role              Role
	Peer, Tag         int // Peer is a rank in Object
	Exchange          bool
	Source, SourceTag int    // with Exchange
	Bytes             int64  // -1 unknown
	Collective        uint64 // its number on the communicator; 0: none
	Pending           []Request
	More              int  // further requests
	Looked            bool // Pending is known

	Reads    *Polled       // it polls by one-sided reads; nil: it does not
	Tests    []string      // the functions with which it has polled without success since its last progress, in the order of their calls
	Since    time.Duration // how long it has been in this state; -1 unknown: less than a moment
	Idle     time.Duration // how long it has made no progress; -1 unknown
	Calls    uint64        // so far
	Progress uint64        // calls that did something
	Moved    bool          // the look before showed another state: see Compare
	Site     string        // where the call is, for people
	kernel   kernel        // of a thread that seems to compute
	Stack    []string      // of a call that lasts: its frames for people, the innermost first; "…" if the rest is unknown
}

// Request is a request that a thread waits for, or a probe that it repeats.
type Request struct {
	Call       string // that started it; of a probe the probe
	Object     *Object
	Peer, Tag  int
	Collective uint64 // of a collective operation: its number on the communicator; 0 unknown
	Starts     uint64 // of a persistent one: how often it was started
}

// Class is how a call waits.
type Class uint8

// The classes.
const (
	Other Class = iota
	Send
	Receive // also probes
	Exchange
	WaitAll
	WaitAny
	Poll
	Collective
	OneSided
	File
)

var sends = []string{"MPI_Send", "MPI_Ssend", "MPI_Rsend", "MPI_Bsend"}
var receives = []string{"MPI_Recv", "MPI_Mrecv", "MPI_Probe", "MPI_Mprobe"}

// ClassOf returns the class of a function from its name, and whether it is collective and whether it polls.
func ClassOf(call string, collective, polls bool) Class {
	name := strings.TrimSuffix(call, "_c")
	switch {
	case polls:
		return Poll
	case slices.Contains(sends, name):
		return Send
	case slices.Contains(receives, name):
		return Receive
	case name == "MPI_Sendrecv", name == "MPI_Sendrecv_replace":
		return Exchange
	case name == "MPI_Wait", name == "MPI_Waitall":
		return WaitAll
	case name == "MPI_Waitany", name == "MPI_Waitsome":
		return WaitAny
	case collective && !isStart(name):
		return Collective
	case strings.HasPrefix(name, "MPI_Win_"):
		return OneSided
	case strings.HasPrefix(name, "MPI_File_"):
		return File
	}
	return Other
}

// isStart reports whether a function only starts an operation.
func isStart(name string) bool {
	return strings.HasPrefix(name, "MPI_I") && name != "MPI_Intercomm_create" && name != "MPI_Intercomm_merge" || strings.HasSuffix(name, "_init") ||
		strings.HasPrefix(name, "MPI_Comm_idup") || strings.HasPrefix(name, "MPI_File_i")
}

// receiving reports whether a request receives, and whether it is point to point at all.
func (r *Request) receiving() (receives, pointToPoint bool) {
	name := strings.TrimSuffix(r.Call, "_c")
	switch {
	case name == "MPI_Iprobe", name == "MPI_Improbe", name == "MPI_Irecv", name == "MPI_Recv_init", name == "MPI_Precv_init", name == "MPI_Imrecv", strings.HasPrefix(name, "MPI_Isendrecv"):
		return true, true
	case strings.HasSuffix(name, "send") && strings.HasPrefix(name, "MPI_I"), strings.HasSuffix(name, "send_init"):
		return false, true
	}
	return false, false
}

// Waits reports whether a thread waits in MPI, by a call or by polling.
func (t *Thread) Waits() bool { return t.Inside && t.Class != Poll || t.Polls() }

var conditions = [...]string{"running", "stopped", "dead", "finalized", "exited", "unreachable", "missing", "unknown"}

func (c Condition) String() string { return conditions[c] }

// MarshalText implements encoding.TextMarshaler.
func (c Condition) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler: other hosts answer with conditions.
func (c *Condition) UnmarshalText(word []byte) error {
	n := slices.Index(conditions[:], string(word))
	if n < 0 {
		return fmt.Errorf("%q is not a condition of a process", word)
	}
	*c = Condition(n)
	return nil
}
