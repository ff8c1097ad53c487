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
	Start time.Time // the job's start and time 0 of all samples: the front end's, else the first rank's
	Nodes []*Node   // by host
	Ranks []*Rank   // by rank, then by start

	// ClockError bounds the error of times between nodes, apart from the offset between the nodes' own clocks (NTP), which
	// is unknown here. Within a node, see Rank.ClockError.
	ClockError time.Duration

	// Clocks correct the times of nodes; nil: the differences of their clocks are not known. See [Run.SetClocks].
	Clocks *Clocks

	index
}

// Node is a machine of the run.
type Node struct {
	Host  string
	Ranks []*Rank

	// Step is how far the wall clock was set during the run, if by more than clocks drift. All times then follow the wall
	// clock as it was at the start. Usually 0.
	Step time.Duration

	bootID string
	wall   wallClock
	curve  Curve // see [Run.SetClocks]
}

// nodeID tells a node from others of the run.
type nodeID struct{ host, boot string }

func (n *Node) id() nodeID { return nodeID{n.Host, n.bootID} }

// Here reports whether the node is this machine, and was not booted since.
func (n *Node) Here() bool { return store.Here(n.bootID) }

// State is the state of a process.
type State = store.State

// The states.
const (
	StateEnded       = store.StateEnded
	StateRunning     = store.StateRunning
	StateDied        = store.StateDied
	StateUnreachable = store.StateUnreachable
	StateDamaged     = store.StateDamaged
)

// End is how a process ended.
type End uint32

// The ends.
const (
	EndNone     End = iota // it has not ended so far
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
	Rank, Size int // in MPI_COMM_WORLD, if it was not spawned; -1 and 0 if it never reached MPI_Init
	Spawned    Spawned
	Host       string
	Node       *Node
	PID        int

	Family, Library, Program, Agent string
	MPIVersion                      string              // "3.1"
	Thread                          catalog.ThreadLevel // provided to the program
	ToolThread                      catalog.ThreadLevel // provided by MPI_T; 0 if it was not initialized
	Interval                        time.Duration       // the sampling interval

	TSC        bool          // times come from the processor's time stamp counter, else from CLOCK_MONOTONIC
	NsPerTick  float64       // as calibrated at the beginning
	ClockError time.Duration // bound of a time's error within the node

	Budget   int64 // its share of --max-size in bytes; 0: none
	KeepLast bool  // at the budget, drop the oldest samples; else the newest

	Columns     []*Column // by identifier; nil if a declaration is lost
	Sets        []*Set    // likewise
	Notes       []Note
	Assignments []Assignment

	// Functions are all MPI functions that the application called, with totals. They are set after the process has ended, if
	// mpitx:calls and mpitx:time_in_mpi were sampled.
	Functions []FunctionTotal

	EventTypes []*EventType // by identifier, like columns
	Tables     []*Table     // likewise
	Modules    []Module     // in the order in which they were seen

	Counters Counters
	State    State
	End      End
	Exit     *ExitStatus // nil: unknown

	source
}

// Spawned says how MPI_Comm_spawn started a process; all are 0 if it did not.
type Spawned struct {
	First   int // the number in the run of the first process of its MPI_COMM_WORLD: its Rank counts on from there
	Spawner int // the number of the process that was the root
	Job     int // which of its jobs, from 1
}

// Recoverable reports whether the process has ended and a part of its recording is still in a memory file on this machine;
// see [Recover].
func (r *Rank) Recoverable() bool { return r.process.InMemory() && r.State != StateRunning }

// Undeclared reports whether samples were skipped because their declarations cannot be read. The declarations of an
// unreachable rank may be in the memory of its node.
func (r *Rank) Undeclared() bool { return len(r.undeclared) > 0 }

// Column is one variable bound to one object, or a part of its array.
type Column struct {
	Rank        *Rank
	ID          int
	Variable    string
	Class       catalog.Class
	Type        catalog.Datatype
	Count       int // number of elements
	First       int // array index of the first one
	Bind        catalog.Bind
	Object      uint64 // the object's number within its process; 0: none
	ObjectName  string // as the application last named it
	As          Transform
	Labels      Labels
	World       []int32       // with LabelWorldList: each element's rank, as Rank.Rank
	Enum        *catalog.Enum // nil: none
	Description string
	Status      Status // the last one declared, with its reason; samples have their own
	Reason      string

	size      int    // of an element
	unit      string // as declared
	lastNamed uint64
}

// Peer returns the rank that element i (from 0 within the column) counts, and whether elements stand for ranks at all. With
// LabelPeer it is a rank of the object's group, with LabelWorldList one of MPI_COMM_WORLD.
func (c *Column) Peer(i int) (int, bool) {
	switch {
	case c.Labels == LabelPeer:
		return c.First + i, true
	case c.Labels == LabelWorldList && i < len(c.World):
		return int(c.World[i]), true
	}
	return 0, false
}

// Labels is what the elements of an array stand for.
type Labels uint8

// The kinds of labels.
const (
	LabelIndex     Labels = iota // only the index
	LabelPeer                    // element i counts rank i of the object's group
	LabelWorldList               // element i counts rank World[i] of MPI_COMM_WORLD
)

// Set is a group of columns that are sampled together.
type Set struct {
	ID      int
	Columns []*Column

	ids      []uint32
	offsets  []int
	row      int
	baseline []byte // the first row
	statuses []byte // and its statuses; nil if all are ok
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

// NoteCode is the subject of a note.
type NoteCode uint32

// The codes.
const (
	NoteText           NoteCode = iota
	NoteSwitchedOff             // a part of the agent gave up
	NoteUnmatched               // Text is a pattern that matched no variable
	NoteFaulty                  // Text is a variable that is not sampled because it crashed or hung
	NoteBudget                  // the size budget was used up
	NoteSuggestions             // Text is the names that exist, one a line, for one that does not
	NoteSpawned                 // Text is the number of processes started by MPI_Comm_spawn that are not recorded
	NoteReduced                 // why less is sampled than was asked for
	NoteUnmatchedEvent          // Text is a pattern of --event that matched no event
	NotePart                    // the trace is of a part of the run
	NoteAlgorithms              // why the algorithms of collective calls are not known
	NoteFunctions               // the trace has the calls of some functions only
)

// Note is a message of the agent.
type Note struct {
	Time     time.Duration // since the job's start
	Severity Severity
	Code     NoteCode
	Text     string

	ticks uint64
}

// FunctionTotal is the total of one MPI function in one process, including its large-count form.
type FunctionTotal struct {
	Name  string
	Calls uint64
	Time  time.Duration
}

// Assignment is a request to set a control variable, and its result.
type Assignment struct {
	After                          bool // set by MPI_T after MPI_Init; else by the environment
	Cvar, Asked, Old, Read, Result string
}

// Counters are the counters of one process. No loss is silent.
type Counters struct {
	Samples      uint64 // recorded
	Missed       uint64 // due but not taken
	LostBusy     uint64 // taken, but another thread was writing
	LostFull     uint64 // taken, but no buffer was free: see [Rank.Loss]
	OverBudget   uint64 // taken, but the size budget was used up
	OverBytes    uint64 // bytes that those would have needed
	Refused      uint64 // declarations and notes that could not be written
	AppendErrors uint64 // failed writes to the directory, each tried again
	Instants     uint64 // how often the agent sampled
	CostNs       uint64 // nanoseconds that took, estimated from one in sixteen

	LostEvents uint64 // events dropped: see [Event] for each thread
	LostRows   uint64 // table rows dropped
	OldEvents  uint64 // events that newer ones have replaced: see [Rank.KeepLast]

	Lacks uint64 // how often the agent was refused memory or a file: see [Rank.Incomplete]

	failedTicks, failedErrno uint64 // when and why writing to the directory failed: see [Rank.Loss]
	oldTicks                 uint64 // the time of the newest of OldEvents
	lackErrno, lackWhat      uint64 // why the first of the Lacks happened, and what they were
}

// Lost is the number of samples that are missing for any reason.
func (c *Counters) Lost() uint64 { return c.Missed + c.LostBusy + c.LostFull + c.OverBudget }

// set sets the counters, which come in the format's order.
func (c *Counters) set(all []uint64) {
	to := [store.NumCounters]*uint64{&c.Samples, &c.Missed, &c.LostBusy, &c.LostFull, &c.OverBudget, &c.OverBytes, &c.Refused,
		&c.AppendErrors, &c.Instants, &c.CostNs, &c.failedTicks, &c.failedErrno, &c.LostEvents, &c.LostRows,
		&c.OldEvents, &c.oldTicks, &c.Lacks, &c.lackErrno, &c.lackWhat}
	for i, v := range all {
		*to[i] = v
	}
}

// Status is the outcome of one variable in one sample.
type Status uint8

// The statuses. Only OK, Reset, AtMost and Incomplete come with a value.
const (
	OK         Status = iota
	Reset             // the value fell in a way that cannot be a wrap
	Error             // the library returned an error
	Gone              // the variable became invalid, or its object was freed
	Faulty            // it crashed or hung when it was tried
	Unbound           // there is no object to bind it to
	Pending           // not started yet; of rates: there is no earlier sample
	AtMost            // the value is an upper bound; the exact one cannot be known
	Incomplete        // the value may be too small: see [Rank.Incomplete]. Runs do not contain it
)

var statusNames = []string{"ok", "reset", "error", "gone", "faulty", "unbound", "pending", "at_most", "incomplete"}

func (s Status) String() string { return wordOf(statusNames, int(s)) }

// HasValue reports whether the status comes with a value.
func (s Status) HasValue() bool { return s <= Reset || s == AtMost || s == Incomplete }
