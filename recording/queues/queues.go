// Package queues computes what happens to messages and requests in an MPI library's queues, from the events that the library raises:
// those of PERUSE (PERUSE 2.0, section 4.3 and the profiler of Appendix B), or MPICH's MPI_T events of its queue of unexpected messages.
package queues

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"mpitx/recording/processor"
	"mpitx/recording/trace"
	"mpitx/text"
)

// Event is an event of a library's queues or requests.
type Event struct {
	Time    time.Duration // since the job's start
	Rank    int
	Thread  int
	Name    string // with the standard's prefix: "PERUSE_COMM_REQ_ACTIVATE"
	Request uint64 // the library's identifier of the request; 0: none, as for messages
	Comm    string // the communicator
	Peer    int    // in MPI_COMM_WORLD; negative: any, or unknown
	Tag     int
	Send    bool // the request is of a send
}

// Times are the durations between two events.
type Times struct {
	Count   uint64        `json:"count"`
	Total   time.Duration `json:"total_ns"`
	Longest time.Duration `json:"longest_ns"`
}

func (t *Times) add(d time.Duration) {
	t.Count++
	t.Total += d
	t.Longest = max(t.Longest, d)
}

// Mean is the mean duration; 0 without any.
func (t Times) Mean() time.Duration {
	if t.Count == 0 {
		return 0
	}
	return t.Total / time.Duration(t.Count)
}

// Span is a pair of events whose time apart counts.
type Span int

// The spans, in the order of tables.
const (
	ActivateToMatch    Span = iota // a request was activated, until it matched a message
	ActivateToTransfer             // a request was activated, until its transfer began
	Transfer                       // a transfer, from begin to end
	CompleteToNotify               // a request completed, until the application was notified
	ActivateToNotify
	InUnexpected // a message in the queue of unexpected messages: the receive was late
	InPosted     // a receive in the queue of posted receives: the message was late
	SearchUnexpected
	SearchPosted
	Spans // their number
)

var spanNames = [Spans]string{"activate_to_match", "activate_to_transfer", "transfer", "complete_to_notify", "activate_to_notify",
	"in_unexpected", "in_posted", "search_unexpected", "search_posted"}

func (s Span) String() string { return spanNames[s] }

// SpanTimes are the times of all spans.
type SpanTimes [Spans]Times

// MarshalJSON writes those that happened, by name.
func (t SpanTimes) MarshalJSON() ([]byte, error) {
	happened := map[string]Times{}
	for s, x := range t {
		if x.Count > 0 {
			happened[spanNames[s]] = x
		}
	}
	return json.Marshal(happened)
}

// Peer is what one rank saw of another one on a communicator.
type Peer struct {
	Rank int    `json:"rank"`
	Comm string `json:"communicator"`
	Peer int    `json:"peer"` // negative: any, or unknown

	Unexpected uint64    `json:"unexpected"` // messages that came before their receive
	Expected   uint64    `json:"expected"`   // receives that were posted before their message came
	Spans      SpanTimes `json:"spans"`
}

// Queue is a queue of one rank and communicator.
type Queue struct {
	Rank     int       `json:"rank"`
	Comm     string    `json:"communicator"`
	Inserted uint64    `json:"inserted"`
	Removed  uint64    `json:"removed"`
	Left     uint64    `json:"left"` // at the end
	Longest  uint64    `json:"longest"`
	Mean     float64   `json:"mean"`   // length over the time from the run's first event to its last one
	Series   []float64 `json:"series"` // mean length in equal parts of that time
	Name     string    `json:"queue"`  // Posted or Unexpected
}

// The queues: of posted receives, and of unexpected messages.
const (
	Posted     = "posted"
	Unexpected = "unexpected"
)

// Queues are the queues of a run.
type Queues struct {
	Source string // "PERUSE", "MPI_T events", or "calls"

	// Derived: computed from calls, so that some figures are bounds: see Derive.
	Derived bool

	From   time.Duration
	To     time.Duration
	Peers  []Peer  // by rank, communicator, peer
	Queues []Queue // by rank, communicator, posted first

	// Unpaired counts events that end what did not begin: recording began in between, or events were lost.
	Unpaired  uint64
	Lost      uint64               // events that were not recorded
	Shortages []processor.Shortage // ranks had no core: see NoCores
	delay     time.Duration

	Later uint64 // messages that Derive left out, as there are too many; To is the end of the others

	// Metrics are those of the profiler of PERUSE 2.0, Appendix B, by rank, peer and metric; only from events of PERUSE.
	Metrics    []Metric
	MessageIDs bool // the library identifies messages; otherwise the formula of T_IN_UNEX_Q takes one for another

	Unreceived []trace.Unreceived // messages that were never received: from calls, see Derive and AddCalls

	sites map[siteKey]*site // by receiver, communicator, sender and kind of finding
	calls *Queues           // see AddCalls
}

// NoCores tells the queues which ranks had no core. Who was late then may be the scheduler's doing.
func (q *Queues) NoCores(p *processor.Processor) {
	q.Shortages, q.delay = p.Shortages(), p.Delay()
	if q.calls != nil {
		q.calls.Shortages, q.calls.delay = q.Shortages, q.delay
	}
}

// Expects reports whether Expected is known.
func (q *Queues) Expects() bool { return q.Source != mpichSource }

// UnexpectedShare is the part of the messages that came before their receive; 0: none, or it is not known.
func (q *Queues) UnexpectedShare() float64 {
	if q == nil || q.Derived || !q.Expects() || q.Lost > 0 {
		return 0
	}
	var unexpected, all uint64
	for _, p := range q.Peers {
		unexpected += p.Unexpected
		all += p.Unexpected + p.Expected
	}
	return float64(unexpected) / float64(max(all, 1))
}

type peerKey struct {
	rank int
	comm string
	peer int
}

type queueKey struct {
	rank       int
	comm, name string
}

type requestKey struct {
	rank    int
	request uint64
}

type messageKey struct {
	rank      int
	comm      string
	peer, tag int
}

type searchKey struct {
	rank, thread int
	unexpected   bool
}

// mark is an event of a request from which times are counted.
type mark int

const (
	activated mark = iota
	transferring
	completed
	posted
	marks
)

// request is when its marks happened.
type request struct {
	at  [marks]time.Duration
	has [marks]bool
}

func (r *request) mark(m mark, now time.Duration) { r.at[m], r.has[m] = now, true }

type queue struct {
	Queue
	length uint64
	since  time.Duration
	parts  []float64 // length times seconds
}

// most bounds what is remembered of requests, messages and searches at a time.
const most = 1 << 20

// Parts is the number of parts of a series.
const Parts = 40

// Adder computes queues from events in order of time.
type Adder struct {
	out      Queues
	peers    map[peerKey]*Peer
	queues   map[queueKey]*queue
	requests map[requestKey]*request
	messages map[messageKey][]time.Duration // in the queue of unexpected messages, the first one first
	searches map[searchKey]time.Duration
	held     int // messages
	book     book
}

// NewAdder starts with the times of the first and the last event.
func NewAdder(source string, from, to time.Duration) *Adder {
	return &Adder{out: Queues{Source: source, From: from, To: to}, peers: map[peerKey]*Peer{}, queues: map[queueKey]*queue{}, requests: map[requestKey]*request{},
		messages: map[messageKey][]time.Duration{}, searches: map[searchKey]time.Duration{}, book: book{}}
}

func (a *Adder) peer(e *Event) *Peer {
	key := peerKey{e.Rank, e.Comm, e.Peer}
	p := a.peers[key]
	if p == nil {
		p = &Peer{Rank: e.Rank, Comm: e.Comm, Peer: e.Peer}
		a.peers[key] = p
	}
	return p
}

func (a *Adder) request(e *Event) *request {
	key := requestKey{e.Rank, e.Request}
	r := a.requests[key]
	if r == nil {
		r = &request{}
		if len(a.requests) < most {
			a.requests[key] = r
		}
	}
	return r
}

// unexpectedMessage is an unexpected message of which only the arrival is known.
const unexpectedMessage = "unexpected message"

// Add adds an event. Others than those of point-to-point communication are ignored.
func (a *Adder) Add(e *Event) {
	switch strings.TrimPrefix(e.Name, "PERUSE_COMM_") {
	case "REQ_ACTIVATE":
		r := a.request(e)
		*r = request{} // identifiers are used again
		r.mark(activated, e.Time)
	case "REQ_INSERT_IN_POSTED_Q":
		a.request(e).mark(posted, e.Time)
		a.change(e, Posted, +1)
	case "REQ_REMOVE_FROM_POSTED_Q":
		a.removed(e)
	case "REQ_MATCH_UNEX":
		if d, ok := a.since(e, activated, ActivateToMatch); ok {
			a.book.time(e, "T_REQ_ACTIVATE_TO_MATCH", d)
		}
	case "REQ_XFER_BEGIN":
		if d, ok := a.since(e, activated, ActivateToTransfer); ok {
			a.book.time(e, "T_REQ_ACTIVATE_TO_XFER_BEGIN", d)
		}
		a.request(e).mark(transferring, e.Time)
	case "REQ_XFER_END":
		if d, ok := a.span(e, transferring, Transfer); ok {
			a.book.time(e, "T_XFER_BEGIN_TO_END", d)
		}
	case "REQ_COMPLETE":
		a.request(e).mark(completed, e.Time)
	case "REQ_NOTIFY":
		if d, ok := a.span(e, completed, CompleteToNotify); ok {
			a.book.time(e, "T_COMPLETE_TO_NOTIFY", d)
		}
		if d, ok := a.since(e, activated, ActivateToNotify); ok {
			a.book.time(e, "T_ACTIVATE_TO_NOTIFY", d)
		}
		delete(a.requests, requestKey{e.Rank, e.Request})
	case unexpectedMessage:
		a.peer(e).Unexpected++
	case "MSG_INSERT_IN_UNEX_Q":
		a.arrived(e)
	case "MSG_REMOVE_FROM_UNEX_Q":
		a.left(e)
	case "SEARCH_POSTED_Q_BEGIN", "SEARCH_UNEX_Q_BEGIN", "SEARCH_UNEX_QUEUE_BEGIN": // the specification has both spellings
		if len(a.searches) < most {
			a.searches[searchKey{e.Rank, e.Thread, strings.Contains(e.Name, "_UNEX_")}] = e.Time
		}
	case "SEARCH_POSTED_Q_END":
		a.searched(e, SearchPosted)
	case "SEARCH_UNEX_Q_END", "SEARCH_UNEX_QUEUE_END":
		a.searched(e, SearchUnexpected)
	}
}

// span adds the time since a mark of the request, which must have happened.
func (a *Adder) span(e *Event, began mark, s Span) (d time.Duration, ok bool) {
	if d, ok = a.since(e, began, s); !ok {
		a.out.Unpaired++
	}
	return d, ok
}

// since adds the time since a mark of the request, if it has happened.
func (a *Adder) since(e *Event, began mark, s Span) (d time.Duration, ok bool) {
	r := a.requests[requestKey{e.Rank, e.Request}]
	if r == nil || !r.has[began] {
		return 0, false
	}
	d = e.Time - r.at[began]
	a.peer(e).Spans[s].add(d)
	return d, true
}

// removed: a message for a posted receive has come.
func (a *Adder) removed(e *Event) {
	a.peer(e).Expected++
	a.span(e, posted, InPosted)
	a.since(e, activated, ActivateToMatch)
	a.request(e).has[posted] = false
	a.change(e, Posted, -1)
}

func (a *Adder) arrived(e *Event) {
	key := messageKey{e.Rank, e.Comm, e.Peer, e.Tag}
	a.out.MessageIDs = a.out.MessageIDs || e.Request != 0
	a.peer(e).Unexpected++
	if a.held < most {
		a.messages[key] = append(a.messages[key], e.Time)
		a.held++
	}
	a.change(e, Unexpected, +1)
}

// left: a receive took a message from the queue: the first one of its peer, communicator and tag, as MPI keeps their order.
func (a *Adder) left(e *Event) {
	key := messageKey{e.Rank, e.Comm, e.Peer, e.Tag}
	if waiting := a.messages[key]; len(waiting) > 0 {
		a.peer(e).Spans[InUnexpected].add(e.Time - waiting[0])
		a.book.time(e, "T_IN_UNEX_Q", e.Time-waiting[0])
		a.held--
		if a.messages[key] = waiting[1:]; len(waiting) == 1 {
			delete(a.messages, key)
		}
	} else {
		a.out.Unpaired++
	}
	a.change(e, Unexpected, -1)
}

func (a *Adder) searched(e *Event, s Span) {
	key := searchKey{e.Rank, e.Thread, s == SearchUnexpected}
	began, ok := a.searches[key]
	if !ok {
		a.out.Unpaired++
		return
	}
	delete(a.searches, key)
	a.peer(e).Spans[s].add(e.Time - began)
}

// Queues returns the result.
func (a *Adder) Queues() *Queues {
	for _, p := range a.peers {
		a.out.Peers = append(a.out.Peers, *p)
	}
	slices.SortFunc(a.out.Peers, func(x, y Peer) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), text.CompareNumbered(x.Comm, y.Comm), cmp.Compare(x.Peer, y.Peer))
	})
	if a.out.Source == peruseSource {
		a.out.Metrics = a.book.metrics()
	}
	all := (a.out.To - a.out.From).Seconds()
	for _, q := range a.queues {
		a.lasted(q, a.out.To)
		q.Left = q.length
		for _, x := range q.parts {
			if all > 0 {
				q.Mean += x / all
				q.Series = append(q.Series, x/(all/Parts))
			}
		}
		a.out.Queues = append(a.out.Queues, q.Queue)
	}
	slices.SortFunc(a.out.Queues, func(x, y Queue) int {
		return cmp.Or(cmp.Compare(x.Rank, y.Rank), text.CompareNumbered(x.Comm, y.Comm), cmp.Compare(x.Name, y.Name))
	})
	return &a.out
}
