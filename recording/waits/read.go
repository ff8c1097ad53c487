package waits

import (
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// Read makes the program of a run's trace. place says where a return address is in the source. The run must stay open.
func Read(run *recording.Run, place func(r *recording.Rank, address uint64) string) *Program {
	return ReadTrace(run, trace.Read(run, trace.Options{Flows: true, Parts: true, Loose: true}), place)
}

// ReadTrace is [Read] of a whole trace that was read already, with flows and parts.
func ReadTrace(run *recording.Run, t *trace.Trace, place func(r *recording.Rank, address uint64) string) *Program {
	r := NewReader(run, t, place, 0)
	for e := range t.Events {
		r.Event(e)
	}
	return r.Program()
}

// NewReader makes a program of the events of a run's whole trace, with flows and parts, that Event gets. most bounds its calls; 0: any number.
func NewReader(run *recording.Run, t *trace.Trace, place func(r *recording.Rank, address uint64) string, most uint64) *Reader {
	r := &Reader{program: NewProgram(), trace: t, most: most, place: place, nodes: map[*recording.Node]int{}, threads: map[thread]*threadState{}, sites: map[siteKey]site{},
		groups: map[groupKey]*Group{}, made: map[onObject]int{}, plans: map[request]plan{}, started: map[request][]int32{}, split: map[onObject]int32{}, modes: map[string]sending{}, flowOf: map[uint64]int32{}, sends: map[*recording.Rank]map[uint32]queue{}, tracksOf: map[*recording.Rank][]int32{}, probes: map[int32][]probe{},
		windows: windows{map[onObject]*exposure{}, map[onObject]*access{}, map[onObject][]*lock{}, map[*trace.Object][]*lock{}}}
	r.ranks = len(run.Ranks)
	for i, n := range run.Nodes {
		r.nodes[n] = i
		r.program.Nodes = append(r.program.Nodes, n.Host)
		for _, rank := range n.Ranks {
			r.dropped += rank.Counters.LostEvents
			if slices.ContainsFunc(rank.Notes, func(n recording.Note) bool { return n.Code == recording.NoteFunctions }) {
				r.program.Missing.Functions++
			}
		}
	}
	return r
}

// Event takes the next event.
func (r *Reader) Event(e *trace.Event) {
	switch {
	case e.Call != nil:
		r.calls++
		if r.most > 0 && r.calls >= r.most {
			if r.calls == r.most { // what is known so far is of no use
				*r = Reader{most: r.most, calls: r.calls}
			}
			return
		}
		r.call(r.thread(e), e.Call)
	case r.program == nil:
	case e.Lost > 0:
		r.program.Lose(r.track(r.thread(e), e.To, threadStart), e.Lost)
	case e.Resumed:
		r.program.Missing.Paused++
		r.program.unsure(e.Rank.Rank)
	case e.Phase != nil:
		r.thread(e).phase(e.Phase)
	}
}

// Program is the program of the events; nil if they are too many.
func (r *Reader) Program() *Program {
	if t := r.trace; r.program != nil {
		r.program.Missing.Lost = max(r.program.Missing.Lost, r.dropped) // of a thread without later events, the trace has no row
		r.program.Missing.Unmatched = t.Totals.Unmatched + t.Totals.Ambiguous + t.Totals.OtherJobs + t.Totals.Partitioned
		r.partitioned.apply(r.program)
	}
	return r.program
}

// threadStart is what a thread does before its first call.
const threadStart = "start of a thread"

type thread struct {
	rank *recording.Rank
	id   int
}

// threadState is what is known of a thread.
type threadState struct {
	thread
	track  int32            // -1: none yet
	sends  map[uint32]queue // of its rank: see Reader.sends
	phases []string         // it is in
	recent [16]struct {
		siteKey
		site
	}
}

// thread is the thread of an event.
func (r *Reader) thread(e *trace.Event) *threadState {
	for len(r.chains) <= e.Track {
		r.chains = append(r.chains, nil)
	}
	at := r.chains[e.Track]
	if at != nil && at.rank == e.Rank && at.id == e.Thread {
		return at
	}
	key := thread{e.Rank, e.Thread}
	if at = r.threads[key]; at == nil {
		if r.sends[e.Rank] == nil {
			r.sends[e.Rank] = map[uint32]queue{}
		}
		at = &threadState{thread: key, track: -1, sends: r.sends[e.Rank]}
		r.threads[key] = at
	}
	r.chains[e.Track] = at
	return at
}

// siteKey is a site as the trace has it.
type siteKey struct {
	rank            *recording.Rank
	at              uint64
	object          *trace.Object
	function, phase string
}

// site is what is known of all calls of a site.
type site struct {
	number  uint32
	shape   shape // of a collective
	how     collective
	probes  bool // its calls wait for a message without receiving it
	readies bool // its calls mark partitions as ready
}

type request struct {
	rank   *recording.Rank
	number uint32
}

// Reader makes a program of events. It is not safe for concurrent use.
type Reader struct {
	program     *Program
	trace       *trace.Trace
	ranks       int // of the run
	most, calls uint64
	dropped     uint64 // events of the whole run, as its processes have counted them
	place       func(r *recording.Rank, address uint64) string
	nodes       map[*recording.Node]int
	threads     map[thread]*threadState
	chains      []*threadState // the last one of each chain of events
	tracksOf    map[*recording.Rank][]int32
	sites       map[siteKey]site
	groups      map[groupKey]*Group
	made        map[onObject]int                     // persistent collectives of a rank
	plans       map[request]plan                     // persistent collectives, by the request
	started     map[request][]int32                  // collectives that are not complete, in the order in which they began
	split       map[onObject]int32                   // those of a rank on a file
	modes       map[string]sending                   // by function
	flows       []flow                               // messages of which a side has not come, and unused ones
	unused      []int32                              // their numbers
	flowOf      map[uint64]int32                     // their numbers
	sends       map[*recording.Rank]map[uint32]queue // flows of sends that are not complete, by request
	probes      map[int32][]probe                    // that no message has followed, by track
	partitioned
	windows
}

// flow is a message.
type flow struct {
	id                                   uint64
	sent, done, received, posted, probed Ref
	bytes                                uint64
	mode                                 Mode
	start                                int32 // of a partitioned one: see partitioned; 0: it is none
	alone                                bool  // the call that completed the send completed nothing else
	arrived, left                        bool  // both ends of what a receive and a send wait for are known
}

// queue is the numbers of flows of one request, in the order in which they began. There is rarely more than one.
type queue struct {
	first int32
	more  []int32
}

// sending is how a function sends.
type sending struct {
	mode     Mode
	done     bool // its send is complete when it returns
	exchange bool // it receives, too
}

// probe is a call that waited for a message without receiving it.
type probe struct {
	of        Ref
	object    *trace.Object
	peer, tag int
}

// mostFlows bounds the messages of which a side has not come.
const mostFlows = 1 << 20

// track is the number of a thread's track. If it is new, it begins at a time.
func (r *Reader) track(at *threadState, start time.Duration, origin string) int32 {
	if at.track < 0 {
		at.track = r.program.Track(at.rank.Rank, at.id, r.nodes[at.rank.Node], int64(start), origin)
		r.tracksOf[at.rank] = append(r.tracksOf[at.rank], at.track)
	}
	return at.track
}

func (at *threadState) phase(p *trace.Phase) {
	switch n := len(at.phases); {
	case p.Entered:
		at.phases = append(at.phases, p.Name)
	case n > 0:
		at.phases = at.phases[:n-1]
	}
}

func (r *Reader) call(at *threadState, c *trace.Call) {
	if c.Depth > 0 || c.Lost {
		return
	}
	if strings.HasPrefix(c.Function, "MPI_Init") && !strings.HasPrefix(c.Function, "MPI_Initialized") {
		r.track(at, c.End, c.Function)
		return
	}
	s := r.site(at, c)
	of := r.program.Call(r.track(at, c.Begin, threadStart), int64(c.Begin), int64(c.End), s.number)
	if c.Open && c.Function != "MPI_Finalize" {
		r.program.Missing.Open++
	}
	if c.Failed || c.Abandoned {
		return
	}
	if s.shape != 0 {
		r.collective(at, of, c, &s)
	}
	for _, n := range c.Started {
		if plan, ok := r.plans[request{at.rank, n}]; ok {
			r.starts(request{at.rank, n}, r.program.Collective(of, plan.group, plan.function, plan.root))
		}
	}
	if c.Object != nil && c.Object.Kind == "window" {
		r.window(of, at.rank.Rank, c)
	}
	if s.readies {
		r.ready(r.program, of, request{at.rank, c.Request})
	}
	if s.probes {
		r.probes[of.Track] = append(r.probes[of.Track], probe{of, c.Object, c.Peer, c.Tag})
	}
	for i := range c.Messages {
		r.message(at, of, &c.Messages[i])
	}
	for _, n := range c.Ended {
		r.completed(of, request{at.rank, n})
		if all := r.started[request{at.rank, n}]; len(all) > 0 {
			r.program.Completed(of, all[0])
			if r.started[request{at.rank, n}] = all[1:]; len(all) == 1 {
				delete(r.started, request{at.rank, n})
			}
			continue
		}
		all, ok := at.sends[n]
		switch {
		case !ok:
			continue
		case len(all.more) > 0:
			at.sends[n] = queue{all.more[0], all.more[1:]}
		default:
			delete(at.sends, n)
		}
		f := &r.flows[all.first]
		f.done, f.alone = of, completes(c) == 1
		r.advance(all.first)
	}
}

// completes is how many sends, receives and collectives a call completes.
func completes(c *trace.Call) int {
	n := len(c.Ended)
	for i := range c.Messages {
		if c.Messages[i].Received {
			n++
		}
	}
	return n
}

func (r *Reader) site(at *threadState, c *trace.Call) site {
	key := siteKey{rank: at.rank, at: c.Site, object: c.Object, function: c.Function}
	if n := len(at.phases); n > 0 {
		key.phase = at.phases[n-1]
	}
	recent := &at.recent[(c.Site^c.Site>>4)%uint64(len(at.recent))]
	if recent.siteKey == key {
		return recent.site
	}
	s, ok := r.sites[key]
	if !ok {
		place := ""
		if c.Site != 0 {
			place = r.place(at.rank, c.Site)
		}
		s = site{number: r.program.Site(Site{c.Function, place, c.Object.String(), key.phase}), probes: c.Function == "MPI_Probe" || c.Function == "MPI_Mprobe", readies: strings.HasPrefix(c.Function, "MPI_Pready")}
		s.shape, s.how = shapeOf(c.Function)
		r.sites[key] = s
	}
	recent.siteKey, recent.site = key, s
	return s
}

// betweenGroups are the functions that make intercommunicators.
var betweenGroups = []string{"MPI_Intercomm_create", "MPI_Intercomm_create_from_groups", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple", "MPI_Comm_accept", "MPI_Comm_connect",
	"MPI_Comm_join", "MPI_Comm_get_parent"}

// onObject is a rank's use of a communicator, window or file.
type onObject struct {
	object *trace.Object
	rank   int
}

// groupKey is an object whose collectives all ranks start in one order. Those of a persistent one have an order of their own: it counts those that
// were made of the object, from 1. The call that makes the object is alone: -1.
type groupKey struct {
	object     *trace.Object
	persistent int
}

// plan is a persistent collective.
type plan struct {
	group    *Group
	function string
	root     int
}

func (r *Reader) starts(by request, collective int32) {
	if collective >= 0 {
		r.started[by] = append(r.started[by], collective)
	}
}

func (r *Reader) collective(at *threadState, of Ref, c *trace.Call, s *site) {
	o := c.Object.Whole()
	if s.how == making {
		o = r.trace.Made(at.rank, c)
	}
	if o == nil || s.how != making && o.Sides() == nil && slices.Contains(betweenGroups, o.MadeBy) || o.Sides() != nil && len(o.Sides()) < o.Size { // not all of the two groups are known
		r.program.Missing.Undecided++
		return
	}
	mine := onObject{o, at.rank.Rank}
	if s.how == splitEnd {
		if n, ok := r.split[mine]; ok {
			r.program.Completed(of, n)
			delete(r.split, mine)
		}
		return
	}
	key := groupKey{object: o}
	switch s.how {
	case persistent:
		r.made[mine]++
		key.persistent = r.made[mine]
	case making:
		key.persistent = -1
	}
	g := r.groups[key]
	if g == nil {
		size := o.Size
		switch {
		case size == 0: // a file
			size = r.trace.Sharing(o)
		case size > r.ranks: // some are not in the run, or it is damaged
			size = 0
		}
		g = r.program.Group(size, o.Places() != nil || o.Name == "MPI_COMM_WORLD")
		g.sides, g.places = o.Sides(), o.Places()
		r.groups[key] = g
	}
	if g.size == 1 {
		return
	}
	if s.shape == fromNeighbors && g.neighbors == nil {
		g.neighbors = r.trace.Neighbors(o)
	}
	root := -1
	switch {
	case c.Root && c.Job == 0:
		root = c.Peer
	case c.Root:
		root = o.Opposite(at.rank.Rank, c.Peer)
	}
	id := request{at.rank, c.Request}
	if s.how == persistent {
		r.plans[id] = plan{g, c.Function, root}
		return
	}
	if n := r.program.Collective(of, g, c.Function, root); s.how != split {
		r.starts(id, n)
	} else if n >= 0 {
		r.split[mine] = n
	}
}

// complete are the functions that return when their send is complete.
var complete = map[string]Mode{"MPI_Send": Standard, "MPI_Ssend": Synchronous, "MPI_Bsend": Buffered, "MPI_Rsend": Standard, "MPI_Sendrecv": Standard, "MPI_Sendrecv_replace": Standard}

// modeOf is the mode of a send by the function that began it.
func modeOf(function string) Mode {
	_, kind, _ := strings.Cut(strings.ToLower(function), "mpi_")
	switch kind = strings.TrimPrefix(kind, "i"); {
	case strings.HasPrefix(kind, "ss"):
		return Synchronous
	case strings.HasPrefix(kind, "bs"):
		return Buffered
	}
	return Standard
}

func (r *Reader) message(at *threadState, of Ref, m *trace.Message) {
	start := int32(0)
	if m.Partitions > 0 && !m.Received { // also if its receive is not in the trace: the calls that mark its partitions are not of an earlier start
		start = r.begin(of, request{at.rank, m.Request})
	}
	if m.Flow == 0 || m.Cancelled {
		return
	}
	n, ok := r.flowOf[m.Flow]
	if !ok {
		n = r.newFlow(m.Flow)
	}
	f := &r.flows[n]
	if m.Received {
		if f.received, f.posted = of, r.posted(at, of, int64(m.Posted)); m.Partitions == 0 {
			f.probed = r.probed(of, m)
		}
	} else {
		how, known := r.modes[m.Function]
		if !known {
			function := strings.TrimSuffix(m.Function, "_c")
			_, done := complete[function]
			how = sending{modeOf(function), done, strings.HasPrefix(function, "MPI_Sendrecv")}
			r.modes[m.Function] = how
		}
		f.sent, f.bytes, f.mode = of, m.Bytes, how.mode
		if m.Partitions > 0 {
			f.mode, f.bytes, f.start = Partitioned, m.Bytes/uint64(m.Partitions), start
		}
		if how.done {
			f.done, f.alone = of, !how.exchange
		} else if m.Request != 0 {
			if all, ok := at.sends[m.Request]; ok {
				at.sends[m.Request] = queue{all.first, append(all.more, n)}
			} else {
				at.sends[m.Request] = queue{first: n}
			}
		}
	}
	r.advance(n)
}

// newFlow adds a message, and returns its number.
func (r *Reader) newFlow(id uint64) (n int32) {
	if len(r.flowOf) >= mostFlows { // their other sides are not in the trace
		clear(r.flowOf)
		for _, all := range r.sends {
			clear(all)
		}
		r.flows, r.unused = r.flows[:0], r.unused[:0]
	}
	if k := len(r.unused); k > 0 {
		n, r.unused = r.unused[k-1], r.unused[:k-1]
	} else {
		n = int32(len(r.flows))
		r.flows = append(r.flows, flow{})
	}
	r.flows[n] = flow{id: id, sent: nobody, done: nobody, received: nobody, posted: nobody, probed: nobody}
	r.flowOf[id] = n
	return n
}

// advance says what is known of a message, once.
func (r *Reader) advance(n int32) {
	f := &r.flows[n]
	if !f.arrived && f.sent != nobody && f.received != nobody {
		f.arrived = true
		if f.start > 0 {
			r.needs(f.received, nobody, f)
		} else {
			r.program.Received(f.received, f.sent, f.bytes)
		}
		if f.probed != nobody && r.program.at(f.sent).begin <= r.program.at(f.probed).end {
			r.program.need(f.probed, f.sent, LateSender, f.bytes)
		}
	}
	if !f.left && f.done != nobody && f.received != nobody {
		f.left = true
		switch {
		case f.posted == nobody:
		case f.start > 0:
			r.needs(f.done, f.posted, f)
		default:
			r.program.Sent(f.done, f.posted, f.bytes, f.mode, f.alone)
		}
	}
	if f.arrived && f.left {
		delete(r.flowOf, f.id)
		r.unused = append(r.unused, n)
	}
}

// posted is the call that posted a receive.
func (r *Reader) posted(at *threadState, of Ref, when int64) Ref {
	if when == 0 {
		return nobody
	}
	if c := r.program.at(of); c.begin == when {
		return of
	}
	for _, track := range r.tracksOf[at.rank] {
		if found := r.program.within(track, when); found != nobody && r.program.at(found).begin == when {
			return found
		}
	}
	return nobody
}

// probed is the call that waited for a message before it was received.
func (r *Reader) probed(of Ref, m *trace.Message) Ref {
	all := r.probes[of.Track]
	for i, p := range all {
		if p.object == m.Object && (p.peer == m.Peer || p.peer == trace.Any) && (p.tag == m.Tag || p.tag == trace.Any) {
			r.probes[of.Track] = slices.Delete(all, i, i+1)
			return p.of
		}
	}
	return nobody
}
