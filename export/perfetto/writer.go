package perfetto

import (
	"fmt"
	"strconv"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// writer turns events into packets.
type writer struct {
	packets
	run       *recording.Run
	site      func(r *recording.Rank, address uint64) string
	processes map[*recording.Rank]*process
	threads   map[threadKey]*thread
	order     []*thread
	last      *thread
	tracks    uint64
	synthetic bool // process identifiers are not distinct
}

type process struct {
	rank  *recording.Rank
	track uint64
	pid   uint64
	sites map[uint64]uint64 // interned texts, by return address
}

type threadKey struct{ track, thread int }

// thread is a track of slices. Calls come when they end, those nested in a call before it; slices are written in the order in which
// they begin.
type thread struct {
	threadKey
	process *process
	track   uint64
	now     time.Duration // nothing may be written before it
	nested  []trace.Call  // calls whose outer call has not come
	phases  []trace.Phase // begun or ended since the last call
	open    int           // phases
	object  *trace.Object // the last one, and its interned text
	named   uint64
	derived uint64 // the track of derived events; 0: none yet
}

// maxNested bounds the nested calls that wait for their outer one. Further ones are written without it.
const maxNested = 1 << 14

func (x *writer) beginTrace() {
	pids := map[int]bool{}
	for _, r := range x.run.Ranks {
		x.synthetic = x.synthetic || r.PID <= 0 || pids[r.PID]
		pids[r.PID] = true
	}
	x.packets.begin(x.run.Start)
}

func (x *writer) newTrack() uint64 {
	x.tracks++
	return x.tracks
}

func (x *writer) process(r *recording.Rank) *process {
	p := x.processes[r]
	if p != nil {
		return p
	}
	p = &process{rank: r, track: x.newTrack(), pid: uint64(max(r.PID, 0)), sites: map[uint64]uint64{}}
	if x.synthetic {
		p.pid = uint64(len(x.processes) + 1)
	}
	x.processes[r] = p
	name := "rank " + strconv.Itoa(r.Rank)
	if r.Incomplete() != "" {
		name += " (incomplete)"
	}
	if r.Host != "" {
		name += " (" + r.Host + ")"
	}
	x.body = field(varint(x.body[:0], trackID, p.track), trackProcess, field(varint(nil, processPID, p.pid), processName, valid(name)))
	x.descriptor()
	return p
}

func (x *writer) thread(e *trace.Event) *thread {
	key := threadKey{e.Track, e.Thread}
	if x.last != nil && x.last.threadKey == key {
		return x.last
	}
	t := x.threads[key]
	if t == nil {
		p := x.process(e.Rank)
		t = &thread{threadKey: key, process: p, track: x.newTrack(), now: -1 << 62}
		x.threads[key] = t
		x.order = append(x.order, t)
		tid, name := uint64(max(e.Thread, 0)), "thread "+strconv.Itoa(e.Thread)
		if e.Thread == e.Rank.PID {
			name = "main thread"
		}
		if x.synthetic {
			tid = p.pid<<20 + uint64(len(x.threads))
		}
		thread := field(varint(varint(nil, threadPID, p.pid), threadTID, tid), threadName, name)
		x.body = field(varint(varint(x.body[:0], trackID, t.track), trackParent, p.track), trackThread, thread)
		x.descriptor()
	}
	x.last = t
	return t
}

func (x *writer) event(e *trace.Event) {
	t := x.thread(e)
	switch {
	case e.Call != nil && e.Call.Depth > 0:
		if len(t.nested) < maxNested {
			t.nested = append(t.nested, *e.Call)
			last := &t.nested[len(t.nested)-1]
			last.Messages = append([]trace.Message(nil), last.Messages...)
		}
	case e.Call != nil:
		x.outermost(t, e.Call)
	case e.Phase != nil:
		t.phases = append(t.phases, *e.Phase)
	case e.External != nil:
		x.external(t, e.External)
	case e.Derived != nil:
		x.derived(t, e.Derived)
	case e.Lost > 0:
		x.start(typeInstant, t.track)
		name := "events lost"
		if e.Old {
			name = "events replaced"
		}
		x.name(name, "mpitx")
		x.unsigned(x.key("events"), e.Lost)
		x.integer(x.key("duration_ns"), int64(e.To-e.From)) // a slice would contain parts of calls
		x.finish(t.at(e.From))
	}
}

// at returns a time that is not before what was written to the track.
func (t *thread) at(wanted time.Duration) time.Duration {
	t.now = max(t.now, wanted)
	return t.now
}

// outermost writes an outermost call with the calls nested in it, and the phases that began or ended since the last one. mpitx.h marks
// phases by MPI_Pcontrol: a phase begins after that call, and ends before it, so that slices nest.
func (x *writer) outermost(t *thread, call *trace.Call) {
	begun := 0
	for i := range t.phases {
		p := &t.phases[i]
		switch {
		case p.Time < call.Begin:
			x.phase(t, p, p.Time)
		case p.Entered:
			begun++
		case begun > 0: // a phase in a callback of the call
			begun--
		default:
			x.phase(t, p, call.Begin)
		}
	}
	x.calls(t, call)
	for i := range t.phases {
		if p := &t.phases[i]; begun > 0 && p.Entered && p.Time >= call.Begin {
			x.phase(t, p, call.End)
			begun--
		}
	}
	t.phases = t.phases[:0]
}

func (x *writer) phase(t *thread, p *trace.Phase, at time.Duration) {
	switch {
	case p.Entered:
		x.start(typeBegin, t.track)
		x.name(p.Name, "phase")
		t.open++
	case t.open == 0: // it began before the part that is written
		return
	default:
		x.start(typeEnd, t.track)
		t.open--
	}
	x.finish(t.at(at))
}

// endThread writes what is left at the end.
func (x *writer) endThread(t *thread) {
	for i := range t.nested {
		x.slice(t, &t.nested[i])
		x.end(t, &t.nested[i])
	}
	for i := range t.phases {
		x.phase(t, &t.phases[i], t.phases[i].Time)
	}
	for t.open > 0 {
		x.phase(t, &trace.Phase{}, t.now)
	}
}

func (x *writer) external(t *thread, e *trace.External) {
	x.start(typeInstant, t.track)
	x.name(e.Name, e.Source)
	if e.Object != nil {
		x.text(x.key("object"), e.Object.String())
	}
	if e.Raised != 0 {
		x.integer(x.key("raised_ns"), int64(e.Raised))
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		for k, v := range e.Values[f.First : f.First+f.Count] {
			key := f.Name
			if f.Count > 1 {
				key = fmt.Sprintf("%s[%d]", f.Name, k)
			}
			if n, ok := v.Int64(); ok {
				x.integer(x.key(key), n)
			} else {
				x.double(x.key(key), v.Float64())
			}
		}
	}
	if e.Operation != "" {
		x.text(x.key("operation"), e.Operation)
		x.rank(argPeer, e.Peer)
		x.integer(argTag, int64(e.Tag))
		if bytes, ok := e.Size(); ok {
			x.unsigned(argBytes, bytes)
		}
		x.integer(x.key("count"), int64(e.Count))
		if e.Datatype != 0 {
			x.text(x.key("datatype"), e.Datatype.String())
		}
	}
	x.finish(t.at(e.Time))
}
