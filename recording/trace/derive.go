package trace

import (
	"slices"
	"strings"
	"time"

	"mpitx/catalog"
	"mpitx/recording"
)

// Bound says how the time or duration of a derived event compares to what the library would say.
type Bound string

// The bounds.
const (
	Exact     Bound = ""
	NotBefore Bound = "not_before" // the event happened at this time or later
	NotAfter  Bound = "not_after"  // at this time or earlier
	AtMost    Bound = "at_most"    // it took this long or less
	AtLeast   Bound = "at_least"   // the number is this or more
)

// Derived is an event of PERUSE that is computed from calls and messages.
type Derived struct {
	Time      time.Duration
	Duration  time.Duration // of events about durations
	Name      string
	Object    *Object
	Peer, Tag int // as in Call
	Job       int
	Bytes     uint64 // of a message
	Request   uint32
	Flow      uint64
	Operation string // "send", "recv", or how a window is synchronised: "fence", "lock" …
	Count     uint64 // of events about numbers
	Bound     Bound
}

// maxActivations bounds the library's requests in a collective call that are remembered.
const maxActivations = 1 << 16

// maxStarted bounds the sends that are not complete.
const maxStarted = 1 << 16

// deriver derives the events of PERUSE that are wanted. Memory is bounded.
type deriver struct {
	wanted  map[string]bool
	sent    map[uint64]time.Duration // by flow: when messages were sent whose receive has not completed
	open    map[uint64]transfer      // by flow: receives that completed before the call that sent
	threads map[thread]*activations
	sends   map[requestID][]Message // that are not complete, in the order in which they began; libraries may give one request to several
	started int                     // sends in these
	shown   Event
	event   Derived
	yield   func(*Event) bool
	ended   bool // yield stopped
}

// transfer is a receive whose send is not known yet.
type transfer struct {
	event Event
	of    Derived
}

// thread is a thread of a rank. Events that the library raises are on another track than the thread's calls.
type thread struct {
	rank *recording.Rank
	id   int
}

func (d *deriver) thread() thread { return thread{d.shown.Rank, d.shown.Thread} }

// activations are the library's requests since the last call of a thread.
type activations struct {
	times []time.Duration
	sends []bool
	lost  bool
}

func newDeriver(wanted map[string]bool, yield func(*Event) bool) *deriver {
	return &deriver{wanted: wanted, sent: map[uint64]time.Duration{}, open: map[uint64]transfer{}, sends: map[requestID][]Message{}, threads: map[thread]*activations{}, yield: yield}
}

// all yields an event and what is derived from it.
func (d *deriver) all(e *Event) bool {
	d.shown = *e // what yield gets is valid only until the next one
	if !d.yield(e) {
		return false
	}
	switch {
	case e.External != nil:
		d.external(e.External)
	case e.Call != nil:
		d.call(e.Call)
	}
	return !d.ended
}

// give yields a derived event.
func (d *deriver) give(e Derived) {
	if !d.wanted[e.Name] || d.ended {
		return
	}
	d.event = e
	shown := Event{Rank: d.shown.Rank, Thread: d.shown.Thread, Track: d.shown.Track, Derived: &d.event}
	d.ended = !d.yield(&shown)
}

func (d *deriver) call(c *Call) {
	if c.Lost {
		return
	}
	for i := range c.Messages {
		d.message(&c.Messages[i])
	}
	d.sendsEnded(c)
	begin := Derived{Time: c.Begin, Object: c.Object, Peer: None, Tag: None}
	end := begin
	end.Time = c.End
	function := strings.TrimSuffix(c.Function, "_c")
	kind, synchronises := synchronisation(function)
	switch {
	case c.Open || c.Failed:
	case function == "MPI_Comm_spawn" || function == "MPI_Comm_spawn_multiple":
		begin.Name, end.Name = "PERUSE_SPAWN_START", "PERUSE_SPAWN_END"
		d.give(begin)
		d.give(end)
	case synchronises:
		begin.Name, end.Name, begin.Operation, end.Operation = "PERUSE_WIN_SYNC_BEGIN", "PERUSE_WIN_SYNC_END", kind, kind
		d.give(begin)
		d.give(end)
	case strings.HasPrefix(function, "MPI_File_"):
		d.file(function, begin, c.End-c.Begin)
	case collectives[function]:
		d.collective(begin, c)
	}
	if a := d.threads[d.thread()]; a != nil {
		*a = activations{times: a.times[:0], sends: a.sends[:0]}
	}
}

// synchronisation is the kind of a call that synchronises a window.
func synchronisation(function string) (kind string, ok bool) {
	kind, ok = strings.CutPrefix(function, "MPI_Win_")
	return kind, ok && slices.Contains(synchronisations, kind)
}

var synchronisations = []string{"fence", "start", "complete", "post", "wait", "test", "lock", "unlock", "lock_all", "unlock_all", "flush", "flush_all",
	"flush_local", "flush_local_all", "sync"}

// file derives the times of a call for files.
func (d *deriver) file(function string, e Derived, took time.Duration) {
	e.Duration, e.Bound = took, AtMost
	_, what, _ := strings.Cut(function, "MPI_File_")
	moves := strings.HasPrefix(what, "read_") || strings.HasPrefix(what, "write_") || strings.HasPrefix(what, "iread_") || strings.HasPrefix(what, "iwrite_") || what == "seek_shared"
	ends := strings.HasSuffix(what, "_end")
	if moves && !ends && (strings.Contains(what, "_shared") || strings.Contains(what, "_ordered")) {
		e.Name = "PERUSE_FILE_T_GET_SHARED_POINTER"
		d.give(e)
	}
	switch {
	case moves && strings.HasSuffix(what, "_begin"):
		e.Name = "PERUSE_FILE_T_FIRST_PHASE_IN_SPLIT_IO"
		d.give(e)
	case moves && ends:
		e.Name = "PERUSE_FILE_T_SECOND_PHASE_IN_SPLIT_IO"
		d.give(e)
	}
}

// blocking are the functions that return after their send is complete.
var blocking = map[string]bool{"MPI_Send": true, "MPI_Ssend": true, "MPI_Bsend": true, "MPI_Rsend": true, "MPI_Sendrecv": true, "MPI_Sendrecv_replace": true}

// named is an event of the request of a message.
func (m *Message) named(name string, at time.Duration, b Bound) Derived {
	e := Derived{Time: at, Name: name, Object: m.Object, Peer: m.Peer, Tag: m.Tag, Job: m.Job, Bytes: m.Bytes, Request: m.Request, Flow: m.Flow, Operation: "send", Bound: b}
	if m.Received {
		e.Operation = "recv"
	}
	return e
}

// sendsEnded derives the ends of nonblocking sends from the call that completes them. Of several with one request, which were all
// complete at once, the program learns only together which ones have ended.
func (d *deriver) sendsEnded(c *Call) {
	for k, number := range c.Ended {
		request := requestID{d.shown.Rank, number}
		all := d.sends[request]
		if len(all) == 0 || slices.Contains(c.Ended[:k], number) {
			continue
		}
		n := 0
		for _, other := range c.Ended[k:] {
			if other == number && n < len(all) {
				n++
			}
		}
		for i := range all[:n] {
			d.give(all[i].named("PERUSE_COMM_REQ_COMPLETE", c.End, NotAfter))
			if n == len(all) {
				d.give(all[i].named("PERUSE_COMM_REQ_NOTIFY", c.End, Exact))
			}
		}
		if d.started -= n; n == len(all) {
			delete(d.sends, request)
		} else {
			d.sends[request] = all[n:]
		}
	}
}

// message derives the events of a request.
func (d *deriver) message(m *Message) {
	named := m.named
	if m.Posted != 0 {
		d.give(named("PERUSE_COMM_REQ_ACTIVATE", m.Posted, Exact))
	}
	d.transfer(m, named("PERUSE_COMM_REQ_XFER_BEGIN", m.Posted, NotBefore))
	if m.Received && m.Flow != 0 {
		d.give(named("PERUSE_COMM_REQ_XFER_END", m.Done, NotAfter))
	}
	if m.Received || blocking[strings.TrimSuffix(m.Function, "_c")] {
		d.give(named("PERUSE_COMM_REQ_COMPLETE", m.Done, NotAfter))
		d.give(named("PERUSE_COMM_REQ_NOTIFY", m.Done, Exact))
	} else if m.Request != 0 && !m.Cancelled && !strings.HasPrefix(m.Function, "MPI_Isendrecv") { // its request is the receive's
		d.sendBegan(requestID{d.shown.Rank, m.Request}, m)
	}
}

func (d *deriver) sendBegan(request requestID, m *Message) {
	if d.started >= maxStarted { // most were freed, or the calls that complete them are not in the trace
		clear(d.sends)
		d.started = 0
	}
	d.sends[request] = append(d.sends[request], *m)
	d.started++
}

// transfer derives the begin of a transfer at the receiver: not before the receive was posted, nor before the message was sent.
func (d *deriver) transfer(m *Message, begin Derived) {
	if !d.wanted[begin.Name] || m.Flow == 0 || m.Posted == 0 {
		return
	}
	if !m.Received {
		late, waits := d.open[m.Flow]
		delete(d.open, m.Flow)
		switch {
		case waits:
			saved := d.shown
			late.of.Time = max(late.of.Time, m.Posted)
			d.shown = late.event
			d.give(late.of)
			d.shown = saved
		case len(d.sent) < maxUnmatched:
			d.sent[m.Flow] = m.Posted
		}
		return
	}
	sent, known := d.sent[m.Flow]
	delete(d.sent, m.Flow)
	switch {
	case known:
		begin.Time = max(begin.Time, sent)
		d.give(begin)
	case len(d.open) < maxUnmatched:
		d.open[m.Flow] = transfer{event: Event{Rank: d.shown.Rank, Thread: d.shown.Thread, Track: d.shown.Track}, of: begin}
	}
}

// collectives are the functions whose messages the library makes itself, and has made when they return.
var collectives = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields("Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce Allreduce " +
		"Reduce_scatter Reduce_scatter_block Scan Exscan Neighbor_allgather Neighbor_allgatherv Neighbor_alltoall Neighbor_alltoallv Neighbor_alltoallw") {
		all["MPI_"+name] = true
	}
	return all
}()

// external remembers the activation of a request that the library made.
func (d *deriver) external(x *External) {
	if x.Source != "peruse" || x.Name != "PERUSE_COMM_REQ_ACTIVATE" {
		return
	}
	a := d.threads[d.thread()]
	if a == nil {
		a = &activations{}
		d.threads[d.thread()] = a
	}
	if len(a.times) >= maxActivations {
		a.lost = true
		return
	}
	a.times, a.sends = append(a.times, x.Time), append(a.sends, x.Operation == "send")
}

// collective derives the numbers of the library's requests in a call, and the mean time between them.
func (d *deriver) collective(e Derived, c *Call) {
	a := d.threads[d.thread()]
	if a == nil || a.lost {
		return
	}
	sends, all := uint64(0), uint64(0)
	var first, last time.Duration
	for i, at := range a.times {
		if at < c.Begin || at > c.End {
			continue
		}
		if all == 0 {
			first = at
		}
		all, last = all+1, at
		if a.sends[i] {
			sends++
		}
	}
	if all == 0 {
		return
	}
	e.Name, e.Count, e.Bound = "PERUSE_COMM_N_SENDS", sends, AtLeast
	d.give(e)
	e.Name, e.Count, e.Bound = "PERUSE_COMM_N_RECVS", all-sends, Exact
	d.give(e)
	if all > 1 {
		e.Name, e.Count, e.Duration = "PERUSE_COMM_T_BTWN_OPS", 0, (last-first)/time.Duration(all-1)
		d.give(e)
	}
}

// Derivable are the events of PERUSE that match one of some patterns and can be derived for a run: those that are proposed only, and, of a
// library that raises no events of PERUSE, those of requests. Without patterns, those apply that were given to mpitx trace --event.
func Derivable(run *recording.Run, patterns ...string) map[string]bool {
	if len(patterns) == 0 {
		patterns = Asked(run)
	}
	native := Raised(run)
	wanted := map[string]bool{}
	for _, p := range catalog.PeruseEvents() {
		derived := p.Derivation == catalog.FromCalls && !(native && strings.HasPrefix(p.Section, "4.")) || p.Derivation == catalog.FromRequests && native
		if !derived {
			continue
		}
		m, err := (&catalog.Filter{Names: patterns}).Compile()
		if err == nil && len(patterns) > 0 && m.MatchName(p.Name) {
			wanted[p.Name] = true
		}
	}
	return wanted
}

// Raised reports whether a run has events of PERUSE that the library raised.
func Raised(run *recording.Run) bool {
	return slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool {
		return slices.ContainsFunc(r.EventTypes, func(t *recording.EventType) bool { return t != nil && t.Name == "peruse" })
	})
}

// tableAsked is the table of patterns that mpitx trace --event got (docs/run-format.md).
const tableAsked = "event patterns"

// Asked are the patterns that mpitx trace --event got, each once.
func Asked(run *recording.Run) (patterns []string) {
	for row := range rows(run, tableAsked, nil) {
		if text := row.text("pattern"); text != "" && !slices.Contains(patterns, text) {
			patterns = append(patterns, text)
		}
	}
	return patterns
}
