package recordingtest

// Trace writes the events of a trace into a stream; see "Events of traces" in docs/run-format.md. Types 0 to 3 are calls, messages,
// posts and phases, type 4 is an event of another source, type 6 a call that repeats one, types 16 and 17 are of partitioned messages.
type Trace struct {
	*Profile // texts and objects
	events   []Event
	slots    map[TraceEvent]uint32 // calls of this chunk, without times, request and sequence
}

// Flags of calls and messages.
const (
	TraceSent       = 1
	TraceReceived   = 2
	TracePosts      = 32
	TraceConcurrent = 64
)

// TraceEvent is a call, or a message of it.
type TraceEvent struct {
	Function          string
	Begin, End        uint64 // ticks
	Site, Bytes       uint64
	Object            uint32
	Peer, Tag, Job    int32
	Request, Sequence uint32
	Flags             uint32
	Depth             uint32
	Message           bool // a message only
	Channel           uint32
	Partitions        uint32 // of a partitioned message
}

// NewTrace declares the types of events.
func NewTrace(s *Stream) *Trace {
	t := &Trace{Profile: NewProfile(s, 1), slots: map[TraceEvent]uint32{}}
	u32, i32 := func(name string) Field { return Field{Name: name, Type: 3} }, func(name string) Field { return Field{Name: name, Type: 7} }
	begin, bytes := Field{Name: "begin", Type: 4, Meaning: 3}, Field{Name: "bytes", Type: 4, Unit: "B"}
	rest := []Field{{Name: "function", Type: 3, Meaning: 1}, u32("object"), i32("peer"), i32("tag"), i32("job"), u32("request"), u32("sequence"), u32("flags")}
	s.EventType(0, "trace call", 56, append([]Field{begin, {Name: "site", Type: 4, Meaning: 2}, bytes}, rest...)...)
	s.EventType(1, "trace message", 48, append([]Field{begin, bytes}, rest...)...)
	s.EventType(2, "trace post", 16, begin, u32("request"), u32("flags"))
	s.EventType(3, "phase", 8, Field{Name: "phase", Type: 3, Meaning: 1}, u32("entered"))
	s.EventType(4, "mpi_t queued", 24, Field{Name: "timestamp", Type: 8}, i32("source"), u32("object"), i32("source"), i32("tag"))
	s.EventType(7, "trace done", 8, u32("request"), u32("flags"))
	s.EventType(8, "trace cancel", 32, u32("request"), u32("outcome"), u32("object"), i32("peer"), i32("tag"), i32("job"), u32("flags"), u32("reserved"))
	s.EventType(15, "trace hidden", 40, begin, u32("request"), u32("sequence"), u32("object"), i32("peer"), i32("tag"), i32("job"), u32("flags"), u32("reserved"))
	s.EventType(14, "trace part", 16, begin, u32("request"), u32("reserved"))
	s.EventType(16, "trace partitioned", 56, append(append([]Field{begin, bytes}, rest...), u32("channel"), u32("partitions"))...)
	s.EventType(17, "trace start", 16, begin, u32("request"), u32("flags"))
	s.EventType(6, "trace repeat", 16, u32("slot"), u32("lasted"), u32("request"), u32("sequence"))
	return t
}

// slot is the slot of a call; earlier: an earlier call is in it.
func (t *Trace) slot(e TraceEvent) (slot uint32, earlier bool) {
	e.Begin, e.End, e.Request, e.Sequence = 0, 0, 0, 0
	slot, earlier = t.slots[e]
	if !earlier && len(t.slots) < 64 {
		slot = uint32(len(t.slots)) + 1
		t.slots[e] = slot
	}
	return slot, earlier
}

// Repeats says that a slot has a call, although no event of this chunk wrote it.
func (t *Trace) Repeats(e TraceEvent, slot uint32) { t.slots[e] = slot }

// Add adds a call or a message. A call that repeats an earlier one of the chunk is written in short.
func (t *Trace) Add(e TraceEvent) {
	if !e.Message {
		slot, earlier := t.slot(e)
		if earlier {
			b := le.AppendUint32(le.AppendUint32(nil, slot), uint32(e.End-e.Begin))
			t.events = append(t.events, Event{22, e.End, le.AppendUint32(le.AppendUint32(b, e.Request), e.Sequence)})
			return
		}
		e.Flags |= slot << 24
	}
	b := le.AppendUint64(nil, e.Begin)
	tag := uint16(16)
	if e.Message {
		tag = 17
	} else {
		b = le.AppendUint64(b, e.Site)
	}
	b = le.AppendUint64(b, e.Bytes)
	for _, v := range []uint32{t.Text(e.Function), e.Object, uint32(e.Peer), uint32(e.Tag), uint32(e.Job), e.Request, e.Sequence, e.Flags | e.Depth<<16} {
		b = le.AppendUint32(b, v)
	}
	if e.Partitions > 0 {
		b, tag = le.AppendUint32(le.AppendUint32(b, e.Channel), e.Partitions), 32
	}
	t.events = append(t.events, Event{tag, e.End, b})
}

// Start adds the start of a partitioned receive.
func (t *Trace) Start(begin, end uint64, request uint32) {
	t.events = append(t.events, Event{33, end, le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, begin), request), TracePosts)})
}

// Post adds the start of a persistent receive.
func (t *Trace) Post(begin, end uint64, request uint32) {
	t.events = append(t.events, Event{18, end, le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, begin), request), TracePosts)})
}

// Hidden adds a message that a function received which the trace does not show.
func (t *Trace) Hidden(m TraceEvent) {
	b := le.AppendUint64(nil, m.Begin)
	for _, v := range []uint32{m.Request, m.Sequence, m.Object, uint32(m.Peer), uint32(m.Tag), uint32(m.Job), m.Flags, 0} {
		b = le.AppendUint32(b, v)
	}
	t.events = append(t.events, Event{31, m.End, b})
}

// Part begins a part after calls that were not recorded. request is the newest one so far.
func (t *Trace) Part(at uint64, request uint32) {
	t.events = append(t.events, Event{30, at, le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, at), request), 0)})
}

// Done says that the call which ends at a time completes the send of a request.
func (t *Trace) Done(end uint64, request uint32) {
	t.events = append(t.events, Event{23, end, le.AppendUint32(le.AppendUint32(nil, request), 0)})
}

// Cancel adds what is known about the cancellation of a message's request: outcome 0: it was asked for; 1: cancelled; 2: completed.
func (t *Trace) Cancel(end uint64, outcome uint32, m TraceEvent) {
	var b []byte
	for _, v := range []uint32{m.Request, outcome, m.Object, uint32(m.Peer), uint32(m.Tag), uint32(m.Job), m.Flags, 0} {
		b = le.AppendUint32(b, v)
	}
	t.events = append(t.events, Event{24, end, b})
}

// Phase adds the beginning of a phase, or with "" the end of the innermost one.
func (t *Trace) Phase(ticks uint64, name string) {
	entered := bit(name != "")
	t.events = append(t.events, Event{19, ticks, le.AppendUint32(le.AppendUint32(nil, t.Text(name)), entered)})
}

// Queued adds an event of MPI_T, of the source 7.
func (t *Trace) Queued(ticks, stamp uint64, object uint32, source, tag int32) {
	b := le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, stamp), 7), object)
	t.events = append(t.events, Event{20, ticks, le.AppendUint32(le.AppendUint32(b, uint32(source)), uint32(tag))})
}

// Lost adds a number of lost events.
func (t *Trace) Lost(ticks, n uint64) {
	t.events = append(t.events, Event{3, ticks, le.AppendUint64(nil, n)})
}

// Write writes the events so far as a chunk of a thread's chain.
func (t *Trace) Write(chain uint16, thread uint64) {
	t.Stream.Chain = chain
	t.Stream.Events(append([]Event{{2, t.events[0].Ticks, le.AppendUint64(nil, thread)}}, t.events...)...)
	t.events = nil
	clear(t.slots)
}

// DeclarePeruse declares the type of PERUSE's events, which Peruse adds.
func (t *Trace) DeclarePeruse() {
	u32 := func(name string) Field { return Field{Name: name, Type: 3} }
	t.Stream.EventType(5, "peruse", 16, Field{Name: "request", Type: 4}, Field{Name: "event", Type: 3, Meaning: 1}, u32("operation"))
}

// Peruse adds an event of PERUSE: an operation is 1 for a send, 2 for a receive.
func (t *Trace) Peruse(ticks uint64, name string, operation uint32) {
	t.events = append(t.events, Event{21, ticks, le.AppendUint32(le.AppendUint32(le.AppendUint64(nil, 0x1000), t.Text(name)), operation)})
}

// Asked writes the patterns that mpitx trace --event got.
func (t *Trace) Asked(patterns ...string) {
	const table, bytes = 20, 8 + 8
	t.Stream.Table(table, "event patterns", 1, bytes, Field{Name: "pattern", Type: 3, Meaning: 1})
	for _, p := range patterns {
		t.Stream.Rows(table, bytes, le.AppendUint32(le.AppendUint32(rowHead(0), t.Text(p)), 0))
	}
}
