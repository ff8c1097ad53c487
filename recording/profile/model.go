package profile

import (
	"strconv"
	"time"

	"mpitx/recording"
	"mpitx/recording/paths"
	"mpitx/recording/processor"
)

// Profile is what the ranks of a run did in MPI. Lists are sorted by time, longest first, unless they say otherwise.
type Profile struct {
	Run   *recording.Run
	Cut   Cut
	Ranks []*Rank // by rank

	Functions []*Function
	Sites     []*Function // functions by call stack
	Objects   []*Object
	Unfreed   []*Unfreed // lines that made objects which were not freed, most of them first
	Phases    []*Phase   // in the order in which they were first entered; empty if the program names none
	Pairs     []Pair     // messages, by source and destination; those between jobs are not here
	OneSided  []Pair     // likewise operations on windows: a put is sent, a get is received
	Sizes     []*Sizes   // by function, sent before received

	Algorithms []*Algorithm  // the function with the most time first; empty if they were not recorded: see [Profile.AlgorithmsUnknown]
	Unlearned  string        // the build of the library whose functions are not known
	Arrivals   []*Arrivals   // to collective calls, those with the most lateness first; empty if none were observed
	Paths      []*paths.Path // between ranks, by rank; none if they were not recorded

	Processor *processor.Processor // of all ranks of the run, whatever the cut is; nil: an older mpitx recorded it

	Total      Totals // of all functions, without inner calls
	Efficiency Efficiency
	Depth      int    // frames of a call stack
	Others     Totals // messages between this job and others: only the numbers of messages and bytes

	whole []*Rank // see averaged
}

// Totals are sums over calls.
type Totals struct {
	Calls uint64        `json:"calls"`
	Time  time.Duration `json:"time_ns"`

	// Point-to-point messages. Bytes received are those that arrived.
	MessagesSent     uint64 `json:"messages_sent"`
	BytesSent        uint64 `json:"bytes_sent"`
	MessagesReceived uint64 `json:"messages_received"`
	BytesReceived    uint64 `json:"bytes_received"`

	// Data of collectives, one-sided operations and files: from the caller's buffers, and into them.
	BytesOut uint64 `json:"bytes_out"`
	BytesIn  uint64 `json:"bytes_in"`

	Abandoned uint64 `json:"abandoned"` // calls that longjmp, an exception or cancellation ended
	Estimated uint64 `json:"estimated"` // calls whose received bytes are an upper bound, because the library does not report them

	// Untimed are the calls whose time is estimated from calls that were timed. TimeError is the error of Time: 95 % of such estimates
	// are within it.
	Untimed   uint64        `json:"untimed,omitzero"`
	TimeError time.Duration `json:"time_error_ns,omitzero"`
}

func (t *Totals) add(o *Totals) {
	t.Calls += o.Calls
	t.Time += o.Time
	t.MessagesSent += o.MessagesSent
	t.BytesSent += o.BytesSent
	t.MessagesReceived += o.MessagesReceived
	t.BytesReceived += o.BytesReceived
	t.BytesOut += o.BytesOut
	t.BytesIn += o.BytesIn
	t.Abandoned += o.Abandoned
	t.Estimated += o.Estimated
	t.Untimed += o.Untimed
	t.TimeError = Together(t.TimeError, o.TimeError)
}

// Sent and Received are the bytes that left and reached the caller's buffers in any way.
func (t *Totals) Sent() uint64     { return t.BytesSent + t.BytesOut }
func (t *Totals) Received() uint64 { return t.BytesReceived + t.BytesIn }

// RankTotals are the totals of one rank.
type RankTotals struct {
	Rank *Rank `json:"rank"`
	Totals
}

// Rank is a process of the profile.
type Rank struct {
	Number  int // in MPI_COMM_WORLD
	Process *recording.Rank
	Totals  // of all its threads, without inner calls
	Threads int

	// Elapsed is the time from the end of MPI_Init to the beginning of MPI_Finalize, or as far as is known. With a cut by phases it
	// is the time in them. InMPI is the part of it that the main thread spent in MPI; InMPIError its error, if it is estimated.
	Elapsed, InMPI, InMPIError time.Duration

	// Open is the call that the main thread is in, if the process has not ended, and OpenFor since when. InMPI includes this time, the
	// Totals do not.
	Open    string
	OpenFor time.Duration

	Processor *processor.Rank // nil: unknown
}

// Useful is the time of the main thread outside of MPI.
func (r *Rank) Useful() time.Duration { return max(r.Elapsed-r.InMPI, 0) }

// Incomplete says why the numbers of the rank may be too small; "" if they are whole.
func (r *Rank) Incomplete() string {
	if r.Process == nil {
		return ""
	}
	return r.Process.Incomplete()
}

// IncompleteRanks are the ranks of the profile that are incomplete, in order.
func (p *Profile) IncompleteRanks() (ranks []int) {
	for _, r := range p.Ranks {
		if r.Incomplete() != "" {
			ranks = append(ranks, r.Number)
		}
	}
	return ranks
}

// MarshalJSON writes the number: documents refer to ranks by it.
func (r *Rank) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(r.Number), 10), nil }

func (r *Rank) finalized() bool { return r.Process != nil && r.Process.End == recording.EndFinalize }

// Function is a function of MPI, or its calls from one place in the program (then Stack is not empty).
type Function struct {
	Name   string    `json:"name"`
	Within string    `json:"within,omitempty"` // the function of the application whose call made the library call this one; "": the application
	Stack  []Address `json:"-"`
	Totals

	Shortest  time.Duration `json:"min_ns"`
	Longest   time.Duration `json:"max_ns"`
	Durations Histogram     `json:"-"`
	Ranks     []RankTotals  `json:"ranks"`           // the ranks that called it, by rank
	Waits     []Wait        `json:"waits,omitempty"` // by rank; empty with a cut by objects, or if the run was recorded by an older mpitx

	Frames []Frame `json:"-"` // of Stack, see [Profile.Resolve]
}

// Address is a return address in a program or library.
type Address struct {
	Path    string `json:"module,omitempty"` // "": the module is unknown
	BuildID string `json:"build_id,omitempty"`
	Offset  uint64 `json:"offset"` // in the module's own addresses; without a module, in the process
}

// Frame is a place in the source of a program.
type Frame struct {
	Function string `json:"function,omitempty"` // "": unknown
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitzero"`    // 0: unknown
	Inlined  bool   `json:"inlined,omitzero"` // into the function of the next frame
	Address
}

// Object is a communicator, a window or a file, or several with one name that were made in one step in disjoint groups, as by
// MPI_Comm_split.
type Object struct {
	Kind   ObjectKind   `json:"kind"`
	Name   string       `json:"name"`
	MadeBy string       `json:"made_by,omitempty"` // the function; "": predefined, or unknown
	Parent *Object      `json:"-"`
	Size   int          `json:"size"`   // of the largest group
	Groups int          `json:"groups"` // how many disjoint groups
	Known  bool         `json:"-"`      // false: calls whose object is unknown, or that have none
	Ranks  []RankTotals `json:"ranks"`
	Freed  int          `json:"-"`     // on how many ranks it was freed
	Made   uint64       `json:"made"`  // on all ranks: objects that the same line made and freed one after the other are one
	Alive  uint64       `json:"alive"` // of those, how many were not freed
	Totals

	number int             // in the order of discovery
	groups map[uint64]bool // hashes of the groups
}

// ObjectKind is the kind of an object.
type ObjectKind uint32

// The kinds.
const (
	Communicator ObjectKind = iota
	Window
	File
	Unknown
)

func (k ObjectKind) String() string {
	return [...]string{"communicator", "window", "file", "unknown"}[min(k, Unknown)]
}

// MarshalText implements encoding.TextMarshaler.
func (k ObjectKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Phase is a named part of the run; "" is the time outside of all phases.
type Phase struct {
	Name       string        `json:"name"`
	Entered    uint64        `json:"entered"`
	First      time.Duration `json:"first_ns"` // when it was first entered, since the job's start
	Last       time.Duration `json:"last_ns"`  // when it was last left
	Efficiency Efficiency    `json:"efficiency"`
	Totals
	Ranks []RankPhase `json:"ranks"` // the ranks that entered it, by rank
}

// RankPhase is a phase on one rank.
type RankPhase struct {
	Rank    *Rank         `json:"rank"`
	Entered uint64        `json:"entered"`
	Elapsed time.Duration `json:"elapsed_ns"` // of one thread: the one that initialized MPI, or another one if that was not in the phase
	InMPI   time.Duration `json:"in_mpi_ns"`
	Totals

	InMPIError time.Duration `json:"in_mpi_error_ns,omitzero"` // see [Totals]

	thread int
}

// Pair is the traffic from one rank of MPI_COMM_WORLD to another.
type Pair struct {
	Source, Destination             int
	MessagesSent, BytesSent         uint64 // as the source counted
	MessagesReceived, BytesReceived uint64 // as the destination counted
	SourceKnown, DestinationKnown   bool   // the rank is in the profile
	OneSided                        bool   // the source counted its puts, and the destination its gets
}

// Messages is the number of messages, as the source counted them; as the destination did, if there is no record of the source.
// For one-sided operations it is the number of puts and gets.
func (p *Pair) Messages() uint64 { return p.either(p.MessagesSent, p.MessagesReceived) }

// Bytes is the number of bytes of the Messages.
func (p *Pair) Bytes() uint64 { return p.either(p.BytesSent, p.BytesReceived) }

func (p *Pair) either(sent, received uint64) uint64 {
	switch {
	case p.OneSided: // each operation is counted on one side only
		return sent + received
	case p.SourceKnown:
		return sent
	}
	return received
}

// SizeBuckets is the number of buckets of message sizes.
const SizeBuckets = 40

// Sizes is a histogram of the sizes of messages that a function sent or posted the receives of.
type Sizes struct {
	Function string              `json:"function"`
	Received bool                `json:"received"`
	Bytes    uint64              `json:"bytes"`
	Messages [SizeBuckets]uint64 `json:"-"` // 0: of 0 bytes; k: from 2^(k-1) bytes to less than 2^k
}

// Count is the number of messages.
func (s *Sizes) Count() (n uint64) {
	for _, m := range s.Messages {
		n += m
	}
	return n
}

// SizeBucket is a range of sizes with the number of messages.
type SizeBucket struct {
	From     uint64  `json:"bytes_from"`
	To       *uint64 `json:"bytes_to,omitempty"` // nil: no limit
	Messages uint64  `json:"messages"`
}

// Buckets returns the buckets that are not empty, ascending.
func (s *Sizes) Buckets() (list []SizeBucket) {
	for k, n := range s.Messages {
		if n > 0 {
			from, to := SizesOf(k)
			list = append(list, SizeBucket{from, to, n})
		}
	}
	return list
}
