package recording

import (
	"fmt"
	"time"

	"mpitx/catalog"
	"mpitx/recording/store"
)

// Run is a run directory.
type Run struct {
	Dir   string
	ID    [16]byte
	Start time.Time // the job's start, time 0 of all samples: as the front end gave it, else the first rank's
	Nodes []*Node   // by host
	Ranks []*Rank   // by rank, then by start

	// ClockError bounds the error of times between nodes as far as it can be known here: what separates the nodes' own
	// clocks (NTP) is not in it. Within a node it is ClockError of the ranks.
	ClockError time.Duration

	index
}

// Node is a machine of the run.
type Node struct {
	Host  string
	Ranks []*Rank

	// Step is how far its wall clock was set during the run, where that was more than clocks drift: then all times follow
	// the wall clock of the beginning. 0 in general.
	Step time.Duration

	bootID string
	wall   wallClock
}

// State says what became of a process.
type State = store.State

// The states.
const (
	StateEnded       = store.StateEnded
	StateRunning     = store.StateRunning
	StateDied        = store.StateDied
	StateUnreachable = store.StateUnreachable
)

// End says how a process ended.
type End uint32

// The ends.
const (
	EndNone     End = iota // it did not, so far
	EndFinalize            // MPI_Finalize
	EndExit                // the process ended without MPI_Finalize
	EndAbort               // MPI_Abort
	EndOff                 // the agent switched itself off
)

func (e End) String() string {
	return wordOf([]string{"none", "finalize", "exit", "abort", "switched-off"}, int(e))
}

func wordOf(words []string, i int) string {
	if i >= 0 && i < len(words) {
		return words[i]
	}
	return fmt.Sprintf("unknown(%d)", i)
}

// Rank is one process's recording.
type Rank struct {
	Rank, Size int // -1 and 0 where it never reached MPI
	Host       string
	Node       *Node
	PID        int

	Family, Library, Program, Agent string
	MPIVersion                      string              // "3.1"
	Thread                          catalog.ThreadLevel // granted to the program
	ToolThread                      catalog.ThreadLevel // granted by MPI_T; 0 where it was not initialized
	Interval                        time.Duration       // between samples

	TSC        bool          // times come from the processor's time stamp counter, else from CLOCK_MONOTONIC
	NsPerTick  float64       // as calibrated at the beginning
	ClockError time.Duration // bound of a time's error within the node

	Budget   int64 // its share of --max-size in bytes; 0: none
	KeepLast bool  // what the budget did: the oldest samples made room, else the newest were dropped

	Columns     []*Column // by identifier; nil where a declaration is lost
	Sets        []*Set    // likewise
	Notes       []Note
	Assignments []Assignment

	// Functions are all that the application called, with totals: there once the process has ended, if mpitx:calls and mpitx:time_in_mpi
	// were sampled.
	Functions []FunctionTotal

	EventTypes []*EventType // by identifier, like columns
	Tables     []*Table     // likewise
	Modules    []Module     // in the order in which they were seen

	Counters Counters
	State    State
	End      End

	source
}

// Left reports whether the process has ended and something of it is still in a memory file on this machine, from where [Recover]
// brings it in.
func (r *Rank) Left() bool { return r.process.InMemory() && r.State != StateRunning }

// Undeclared reports whether samples were left out since their declarations cannot be read: those of a rank that is unreachable may be
// in the memory of its node.
func (r *Rank) Undeclared() bool { return len(r.undeclared) > 0 }

// Column is one variable for one object, or some of an array's elements.
type Column struct {
	Rank        *Rank
	ID          int
	Variable    string
	Class       catalog.Class
	Type        catalog.Datatype
	Count       int // elements
	First       int // the index of the first of them
	Bind        catalog.Bind
	Object      uint64 // identifies the object among those of its process; 0: none
	ObjectName  string // as the application last named it
	As          Transform
	Labels      Labels
	World       []int32       // with LabelWorldList: the rank that each element is about
	Enum        *catalog.Enum // nil: none
	Description string
	Status      Status // the last one that was declared, with its reason; samples have their own
	Reason      string

	size      int    // of an element
	unit      string // as it was declared
	lastNamed uint64
}

// Peer is the rank that an element is about, by the column's labels, and whether elements are about ranks at all: with
// LabelPeer a rank of the object's group, with LabelWorldList of MPI_COMM_WORLD. i counts from 0 within the column.
func (c *Column) Peer(i int) (int, bool) {
	switch {
	case c.Labels == LabelPeer:
		return c.First + i, true
	case c.Labels == LabelWorldList && i < len(c.World):
		return int(c.World[i]), true
	}
	return 0, false
}

// Labels says what the elements of an array are.
type Labels uint8

// The kinds of labels.
const (
	LabelIndex     Labels = iota // nothing better than their index
	LabelPeer                    // element i is about the process with rank i in the object's group
	LabelWorldList               // World[i] is the rank in MPI_COMM_WORLD that element i is about
)

// Set is a number of columns that are sampled together.
type Set struct {
	ID      int
	Columns []*Column

	ids      []uint32
	offsets  []int
	row      int
	baseline []byte // the first row, and
	statuses []byte // its statuses, nil where all were ok
	baseTime uint64
}

// Severity of a note.
type Severity uint32

// The severities.
const (
	Info Severity = iota + 1
	Warning
	Severe
)

func (s Severity) String() string {
	return wordOf([]string{"", "info", "warning", "severe"}, int(s))
}

// NoteCode says what a note is about.
type NoteCode uint32

// The codes.
const (
	NoteText        NoteCode = iota
	NoteSwitchedOff          // a part of the agent gave up
	NoteUnmatched            // Text is a pattern that matched no variable
	NoteFaulty               // Text is a variable that is not sampled since it crashed or hung
	NoteBudget               // the size budget was used up
	NoteOffered              // Text are names that there are, one a line, where one that was asked for is not
	NoteSpawned              // Text is how many processes this one has started by MPI_Comm_spawn: they are not sampled
	NoteLess                 // why less is sampled than was asked for
)

// Note is something that the agent has to say.
type Note struct {
	Time     time.Duration // since the job's start
	Severity Severity
	Code     NoteCode
	Text     string

	ticks uint64
}

// FunctionTotal is what one MPI function came to in one process, together with its form for large counts.
type FunctionTotal struct {
	Name  string
	Calls uint64
	Time  time.Duration
}

// Assignment is a control variable that was to be set, and what came of it.
type Assignment struct {
	After                          bool // set after MPI_Init, by MPI_T; else by the environment before
	Cvar, Asked, Old, Read, Result string
}

// Counters is what a process counted: nothing is lost silently.
type Counters struct {
	Samples      uint64 // recorded
	Missed       uint64 // due, but not taken
	LostBusy     uint64 // taken, but another thread was writing
	LostFull     uint64 // taken, but all buffers waited to be written: see [Rank.Loss]
	OverBudget   uint64 // taken, but the size budget was used up
	OverBytes    uint64 // what those would have needed
	Refused      uint64 // declarations and notes that could not be written
	AppendErrors uint64 // times that writing to the directory failed and was tried again
	Instants     uint64 // the agent's own cost: instants at which it sampled
	CostNs       uint64 // and the nanoseconds that took, by one in sixteen of them

	LostEvents uint64 // that found no room: of a thread, see [Event]
	LostRows   uint64 // of tables likewise

	failedTicks, failedErrno uint64 // when and why writing to the directory failed: see [Rank.Loss]
}

// Lost is how many samples there could have been, and are not.
func (c *Counters) Lost() uint64 { return c.Missed + c.LostBusy + c.LostFull + c.OverBudget }

// set takes the counters in the format's order.
func (c *Counters) set(all []uint64) {
	to := [store.NumCounters]*uint64{&c.Samples, &c.Missed, &c.LostBusy, &c.LostFull, &c.OverBudget, &c.OverBytes, &c.Refused,
		&c.AppendErrors, &c.Instants, &c.CostNs, &c.failedTicks, &c.failedErrno, &c.LostEvents, &c.LostRows}
	for i, v := range all {
		*to[i] = v
	}
}

// Status is what a sample says of one variable.
type Status uint8

// The statuses. Only OK, Reset and AtMost come with a value.
const (
	OK      Status = iota
	Reset          // it fell in a way that cannot be a wrap
	Error          // the library returned an error
	Gone           // the variable became invalid, or its object was freed
	Faulty         // crashed or hung when it was tried
	Unbound        // there is no object to bind it to
	Pending        // not started yet; of rates: there is no earlier sample
	AtMost         // the value is an upper bound: the true one cannot be known
)

var statusNames = []string{"ok", "reset", "error", "gone", "faulty", "unbound", "pending", "at_most"}

func (s Status) String() string { return wordOf(statusNames, int(s)) }

// HasValue reports whether there is a value with it.
func (s Status) HasValue() bool { return s <= Reset || s == AtMost }
