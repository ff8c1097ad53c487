// Package trace reads traces: the MPI calls, messages and phases that mpitx trace recorded, in order of time over all ranks and
// threads, and which send belongs to which receive. Runs may be larger than memory.
package trace

import (
	"slices"
	"time"

	"mpitx/recording"
)

// Peers and tags that are not a rank or a tag.
const (
	None   = -1000000 // the call has none, or it is unknown
	Any    = -1       // MPI_ANY_SOURCE, MPI_ANY_TAG
	Nobody = -2       // MPI_PROC_NULL
)

// Object is a communicator, window or file. Objects of several ranks that are the same in the program are one Object.
type Object struct {
	Kind   string // "communicator", "window", "file"
	Name   string // given by the program or the library; "": none
	MadeBy string // the function that made it; "": predefined
	Size   int    // processes; 0: unknown

	number uint32 // 0: not known on other ranks
	text   string // what String returns; "": not known yet
	sides  map[int]uint64
	ranks  map[int]int            // by rank in the run: its rank in its group
	whole  *Object                // of an intercommunicator with a spawned job: what all processes of both groups share; nil: itself
	across map[uint64]map[int]int // of such a whole, by side: the processes of the other group by their ranks there
}

// Sides are those of an intercommunicator: a number for each of its two groups, by rank in the run. nil: it is none, or that is not known.
func (o *Object) Sides() map[int]uint64 { return o.sides }

// Whole is the same object for all processes that have it. For jobs that were spawned, it has another name than the object itself.
func (o *Object) Whole() *Object {
	if o != nil && o.whole != nil {
		return o.whole
	}
	return o
}

// Places are the ranks of an intracommunicator's processes, by their numbers in the run; nil: not known for all.
func (o *Object) Places() map[int]int {
	taken := make([]bool, len(o.ranks))
	for _, n := range o.ranks {
		if o.sides != nil || o.Kind != kinds[0] || len(o.ranks) != o.Size || n < 0 || n >= o.Size || taken[n] {
			return nil
		}
		taken[n] = true
	}
	return o.ranks
}

// Opposite is the number in the run of a process of the other group, by its rank there, of an intercommunicator with a spawned job; -1: unknown.
func (o *Object) Opposite(rank, peer int) int {
	if other, ok := o.across[o.sides[rank]][peer]; ok {
		return other
	}
	return -1
}

// String is the object's name; if it has none, how it was made. Objects of one rank have different names: "MPI_Comm_dup #2".
func (o *Object) String() string {
	switch {
	case o == nil:
		return ""
	case o.text != "":
		return o.text
	case o.Name != "":
		return o.Name
	case o.MadeBy != "":
		return o.MadeBy
	}
	return "unnamed " + o.Kind
}

// Call is an MPI call.
type Call struct {
	Begin, End time.Duration // since the job's start
	Function   string        // "MPI_Send"
	Object     *Object       // nil: none, or unknown
	Peer, Tag  int           // a number of [recording.Rank.Rank]; also None, Any, Nobody
	Job        int           // 0: the peer is of this job; else Peer is a rank in another job, see docs/run-format.md
	Bytes      uint64        // of its messages, or that it gives and gets
	Site       uint64        // a return address in the program: see [recording.Rank.Module]
	Request    uint32        // the number of the request that it makes; 0: none
	Algorithm  string        // what served a collective call, as [algorithm.Served.Text] says it; "": not known
	Depth      int           // in how many calls it is nested: from a callback of the application
	Root       bool          // the peer is the root of a collective
	OneSided   bool          // the peer is the target
	Exclusive  bool          // it locks the window at the target exclusively
	Failed     bool          // it returned an error
	Abandoned  bool          // longjmp, an exception or cancellation ended it
	Open       bool          // it had not returned when the process ended
	Lost       bool          // its own event was lost; Messages are what is known
	Messages   []Message     // that it sent, or whose receive it completed
	Ended      []uint32      // requests of sends and collectives that it completed
	Started    []uint32      // requests of persistent collectives that it started
}

// Message is a message that was sent or received.
type Message struct {
	Received   bool
	Function   string // that sent it or posted the receive; if that is not known, the one that completed it
	Object     *Object
	Peer, Tag  int
	Job        int // as in Call
	Bytes      uint64
	Posted     time.Duration // when the receive was posted, or the sending call began; 0: unknown
	Done       time.Duration // the end of the call that sent it or completed the receive
	Sequence   uint32        // counts the messages with this object, peer, tag and direction, from 1; 0: unknown
	Request    uint32        // the request; 0: none
	Site       uint64        // of the call that posted the receive or sent; 0: unknown
	Cancelled  bool          // MPI_Cancel has cancelled the send; known with Options.Flows
	Partitions int           // of a partitioned message on this side; 0: it is none. Sequence counts the starts of its request
	Estimated  bool          // the library does not report what arrived: source, tag and bytes are the posted receive's
	Flow       uint64        // equal in a send and its receive; 0: the other side is not in the trace, or the order is ambiguous

	concurrent bool
	channel    uint32 // of a partitioned message: see stream
}

// Phase is the beginning or end of a phase of the application.
type Phase struct {
	Time    time.Duration
	Name    string // of an end: ""
	Entered bool
}

// External is an event of another source: "mpi_t" or "peruse".
type External struct {
	Time         time.Duration // when the library called back
	Raised       time.Duration // when it happened, by the clock of the event's source; 0: unknown
	Source, Name string
	Object       *Object
	Fields       []recording.Field
	Values       []recording.Value // of the fields' elements: Values[f.First:f.First+f.Count]
	Spec                           // of an event of PERUSE
}

// Event is what [Trace.Events] yields: one of the pointers is set, or Lost. It is valid until the next one.
type Event struct {
	Rank     *recording.Rank
	Thread   int // the operating system's thread ID
	Track    int // numbers the threads of all ranks from 0. A thread may continue the track of one that has ended, even in its own first call, so calls nest only if the threads are equal, too
	Call     *Call
	Phase    *Phase
	External *External
	Derived  *Derived // follows the call that it is derived from
	Lost     uint64   // events of the thread that were lost from From to To
	Old      bool     // newer ones have replaced them (--policy last)
	From, To time.Duration
	Resumed  bool // the recording goes on after calls that it left out: with Options.Parts
}

// Options choose a part of a trace.
type Options struct {
	From, To time.Duration              // calls that overlap this part, if To > From
	Rank     func(*recording.Rank) bool // only these ranks; nil: all
	Flows    bool                       // match sends and receives, which reads the trace once more
	Loose    bool                       // events need only be in order of time within each rank, which is faster; all are in order if there are windows, or if more may come
	Parts    bool                       // also yield where the recording goes on after calls that it left out
	Derive   map[string]bool            // the events of PERUSE to derive, see [Derivable]

	// Progress is called now and then with the part that was read, 0 to 1.
	Progress func(part float64)
}

// The names of the types of events.
const (
	typeCall    = "trace call"
	typeRepeat  = "trace repeat"
	typeMessage = "trace message"
	typeHidden  = "trace hidden"
	typePost    = "trace post"
	typeDone    = "trace done"
	typeCancel  = "trace cancel"
	typePart    = "trace part"
	typePhase   = "phase"

	typePartitioned = "trace partitioned"
	typeStart       = "trace start"
)

// Sharing is how many ranks know an object.
func (t *Trace) Sharing(o *Object) (n int) {
	for _, all := range t.objects {
		for _, other := range all {
			if other == o {
				n++
				break
			}
		}
	}
	return n
}

// windows reports whether a rank has a window. Only their order tells epochs of different ranks apart.
func (t *Trace) windows() bool {
	for _, all := range t.objects {
		for _, o := range all {
			if o.Kind == kinds[1] {
				return true
			}
		}
	}
	return false
}

// Has reports whether a run has a trace.
func Has(run *recording.Run) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.EventTypes, func(t *recording.EventType) bool { return t != nil && t.Name == typeCall })
	})
}

// Totals count what a trace holds and how its messages were matched.
type Totals struct {
	Calls, Sent, Received uint64 // in the chosen part
	Flows                 uint64 // sends with their receive
	Ambiguous             uint64 // messages without a flow because several threads sent or received at the same time, events between were lost, or it is not known whether a send was cancelled
	Cancelled             uint64 // sends that MPI_Cancel has cancelled; they are in Sent
	Unmatched             uint64 // messages whose other side is not in the chosen part of the trace, or whose peer or communicator is not known
	OtherJobs             uint64 // messages from or to another job of which it is not known which of the run's processes has the other side; they are not in Unmatched
	Partitioned           uint64 // sent messages of partitioned communication whose order is not known; they and their receives are not in Unmatched
	LostEvents            uint64 // events for which there was no room
	OldEvents             uint64 // events that newer ones have replaced (--policy last)
}

// add adds those of other ranks.
func (t *Totals) add(o *Totals) {
	t.Calls, t.Sent, t.Received, t.LostEvents, t.OldEvents = t.Calls+o.Calls, t.Sent+o.Sent, t.Received+o.Received, t.LostEvents+o.LostEvents, t.OldEvents+o.OldEvents
	t.Flows, t.Ambiguous, t.Cancelled, t.Unmatched = t.Flows+o.Flows, t.Ambiguous+o.Ambiguous, t.Cancelled+o.Cancelled, t.Unmatched+o.Unmatched
	t.OtherJobs, t.Partitioned = t.OtherJobs+o.OtherJobs, t.Partitioned+o.Partitioned
}

func (t *Totals) lose(e *recording.Event) {
	if e.Old {
		t.OldEvents += e.Lost
	} else {
		t.LostEvents += e.Lost
	}
}

// Trace is the trace of a run.
type Trace struct {
	Totals Totals // complete after the first Events, or at once with Options.Flows

	run       *recording.Run
	options   Options
	readers   int        // of parts at once; 0: it is read alone
	chains    int        // that come before the chosen ones, of those that were matched: see ByRank
	left      *leftovers // with Options.Flows: what has found no other side
	objects   map[*recording.Rank]map[uint32]*Object
	neighbors map[*Object]map[int][]int                 // nil: not read yet
	making    map[maker][]made                          // likewise
	clocks    map[*recording.Rank]map[int64]sourceClock // of event sources, as far as they were needed
	matched   *matched                                  // nil: flows are not wanted
	arrows    func() func(Arrow)                        // see [Arrows]
}

// Read reads what is the same for the whole trace and, with Options.Flows, matches messages. The run must stay open.
func Read(run *recording.Run, o Options) *Trace {
	t := &Trace{run: run, options: o, objects: Objects(run)}
	if o.Flows {
		t.match(func(time.Duration) bool { return true })
	}
	return t
}

// ByRank yields the chosen ranks that have events, by number, each with its part of the trace. Messages keep the flows that they have in the
// whole. Derived events, which need all ranks, are left out.
func (t *Trace) ByRank(yield func(rank int, part *Trace) bool) {
	chosen := func(r *recording.Rank) bool { return t.options.Rank == nil || t.options.Rank(r) }
	last, n := (*recording.Rank)(nil), 0
	for _, c := range t.run.EventChains() {
		if !chosen(c.Rank) {
			continue
		}
		if last == nil || c.Rank.Rank != last.Rank {
			last = c.Rank
			part := *t
			part.chains, part.options.Derive = n, nil
			part.options.Rank = func(r *recording.Rank) bool { return r.Rank == c.Rank.Rank && chosen(r) }
			if !yield(c.Rank.Rank, &part) {
				return
			}
		}
		n++
	}
}

// Events yields calls, phases and other events by the time of their end. Of one thread, nested calls come before the call
// around them. Memory is bounded.
func (t *Trace) Events(yield func(*Event) bool) {
	switch {
	case len(t.options.Derive) == 0:
		t.decode(yield)
	case t.options.isPart():
		t.withDerived(yield)
	default:
		t.decode(newDeriver(t.options.Derive, yield).all)
	}
}

// decode yields the events that are in the trace. It returns false if yield stopped.
func (t *Trace) decode(yield func(*Event) bool) bool {
	t.Totals.Calls, t.Totals.Sent, t.Totals.Received, t.Totals.LostEvents, t.Totals.OldEvents = 0, 0, 0, 0, 0
	if t.options.Loose && t.run.Still() && !t.windows() {
		return t.decodeInTurns(yield)
	}
	d := newDecoder(t)
	for e := range t.run.Events(d.options()) {
		if !d.event(e, yield) {
			return false
		}
	}
	return d.finish(yield)
}
