package recordingtest

import "math/bits"

// Profile writes the tables of a profile into a stream; see "Tables of tools" in docs/run-format.md.
type Profile struct {
	Stream *Stream
	Depth  uint32 // addresses in a stack; 0: the field is missing

	texts  map[string]uint32
	tables map[string]uint32
}

// NewProfile declares the tables.
func NewProfile(s *Stream, depth uint32) *Profile {
	p := &Profile{Stream: s, Depth: depth, texts: map[string]uint32{}, tables: map[string]uint32{}}
	u32 := func(name string) Field { return Field{Name: name, Type: 3} }
	i32 := func(name string) Field { return Field{Name: name, Type: 7} }
	text := func(name string) Field { return Field{Name: name, Type: 3, Meaning: 1} }
	u64 := func(names ...string) (list []Field) {
		for _, name := range names {
			list = append(list, Field{Name: name, Type: 4})
		}
		return list
	}
	calls := []Field{text("function"), text("phase"), u32("object"), text("within")}
	if depth > 0 {
		calls = append(calls, Field{Name: "stack", Type: 4, Meaning: 2, Count: depth})
	}
	keys := uint32(len(calls))
	calls = append(calls, u64("calls", "ticks", "nested")...)
	calls = append(calls, Field{Name: "shortest", Type: 4, Merge: 1}, Field{Name: "longest", Type: 4, Merge: 2})
	calls = append(calls, u64("messages_sent", "bytes_sent", "messages_received", "bytes_received", "gave", "got", "abandoned", "estimated", "untimed", "picked", "picked_ticks", "picked_squares")...)
	calls = append(calls, Field{Name: "durations", Type: 3, Count: 128})
	p.declare("profile calls", keys, p.callBytes(), calls...)
	waits := append([]Field{text("function"), text("phase"), i32("job"), i32("rank")}, calls[4:keys]...)
	p.declare("profile waits", uint32(len(waits)), p.waitBytes(), append(waits, u64("calls", "ticks", "shared_calls", "shared_ticks")...)...)
	p.declare("profile peers", 4, 8+16+32, append([]Field{i32("job"), i32("rank"), text("phase"), u32("onesided")},
		u64("messages_sent", "bytes_sent", "messages_received", "bytes_received")...)...)
	p.declare("profile sizes", 3, 8+16+41*8, append([]Field{text("function"), text("phase"), u32("received"), {Name: "messages", Type: 4, Count: 40}}, u64("bytes")...)...)
	p.declare("profile phases", 1, 8+8+40, append([]Field{text("phase")}, append(u64("entered", "ticks"),
		Field{Name: "first", Type: 4, Meaning: 3, Merge: 1}, Field{Name: "last", Type: 4, Meaning: 3, Merge: 2}, Field{Name: "self", Type: 4})...)...)
	p.declare("profile algorithms", keys+2, p.algorithmBytes(), append(append([]Field{text("function"), text("phase"), u32("object"), u32("bucket"), text("algorithm"), u32("reserved")},
		calls[4:keys]...), u64("calls", "ticks", "bytes")...)...)
	p.declare("where", 1, 8+16+32, append([]Field{u32("thread"), u32("inside"), text("function"), u32("arguments")},
		append(u64("calls", "seen"), Field{Name: "since", Type: 4, Meaning: 3}, Field{Name: "beat", Type: 4, Meaning: 3})...)...)
	p.declare("objects", 1, 8+32+40, append(append([]Field{u32("id"), u32("kind"), i32("size"), text("name"), text("made_by"), u32("parent"), u32("order"), u32("freed")},
		u64("group", "collectives", "side")...), i32("rank"), i32("job"), Field{Name: "made_at", Type: 4, Meaning: 3})...)
	p.declare("neighbors", 2, 8+16, u32("object"), u32("number"), i32("rank"), u32("count"))
	return p
}

func (p *Profile) callBytes() int { return 8 + 16 + int(p.Depth)*8 + 17*8 + 128*4 }

func (p *Profile) algorithmBytes() int { return 8 + 24 + int(p.Depth)*8 + 3*8 }

func (p *Profile) waitBytes() int { return 8 + 16 + int(p.Depth)*8 + 4*8 }

func (p *Profile) declare(name string, keys uint32, bytes int, fields ...Field) {
	id := uint32(len(p.tables))
	p.tables[name] = id
	p.Stream.Table(id, name, keys, bytes, fields...)
}

// Text returns the identifier of a text.
func (p *Profile) Text(t string) uint32 {
	id, known := p.texts[t]
	if !known {
		id = uint32(len(p.texts))
		p.texts[t] = id
		p.Stream.Text(id, t)
	}
	return id
}

// Call is a row of calls. Calls without Durations lasted Ticks/Calls each. Of Untimed calls the times were not taken. The last Picked
// Durations stand for them.
type Call struct {
	Thread                                                   uint32 // 0: the process's first
	Function, Phase, Within                                  string
	Object                                                   uint32
	Stack                                                    []uint64
	Calls, Ticks, Nested                                     uint64
	Durations                                                []uint64 // ticks of each call
	MessagesSent, BytesSent, MessagesReceived, BytesReceived uint64
	Gave, Got, Abandoned, Estimated                          uint64
	Untimed, Picked, Squares                                 uint64 // Squares 0: those of the picked calls
}

func rowHead(thread uint32) []byte {
	if thread == 0 {
		thread = 4711
	}
	return le.AppendUint32(le.AppendUint32(nil, 2), thread)
}

func bucketOf(ticks uint64) int {
	e := bits.Len64(ticks) - 1
	if e < 5 {
		return 0
	}
	return min(4*(e-5)+int(ticks>>(e-2)&3), 127)
}

// Calls appends rows of calls.
func (p *Profile) Calls(calls ...Call) {
	var rows [][]byte
	for _, c := range calls {
		b := rowHead(c.Thread)
		for _, v := range []uint32{p.Text(c.Function), p.Text(c.Phase), c.Object, p.Text(c.Within)} {
			b = le.AppendUint32(b, v)
		}
		b = p.stack(b, c.Stack)
		if returned := c.Calls - c.Abandoned - c.Untimed; c.Durations == nil && returned > 0 {
			for range returned {
				c.Durations = append(c.Durations, c.Ticks/returned)
			}
		}
		shortest, longest, histogram := ^uint64(0), uint64(0), [128]uint32{}
		for _, d := range c.Durations {
			shortest, longest = min(shortest, d), max(longest, d)
			histogram[bucketOf(d)]++
		}
		var ticks, squares uint64
		for _, d := range c.Durations[uint64(len(c.Durations))-c.Picked:] {
			ticks, squares = ticks+d, squares+d*d
		}
		if c.Squares > 0 {
			squares = c.Squares
		}
		for _, v := range []uint64{c.Calls, c.Ticks, c.Nested, shortest, longest, c.MessagesSent, c.BytesSent, c.MessagesReceived, c.BytesReceived, c.Gave, c.Got, c.Abandoned, c.Estimated, c.Untimed, c.Picked, ticks, squares} {
			b = le.AppendUint64(b, v)
		}
		for _, n := range histogram {
			b = le.AppendUint32(b, n)
		}
		rows = append(rows, b)
	}
	p.rows("profile calls", p.callBytes(), rows)
}

func (p *Profile) stack(b []byte, stack []uint64) []byte {
	for i := range int(p.Depth) {
		var at uint64
		if i < len(stack) {
			at = stack[i]
		}
		b = le.AppendUint64(b, at)
	}
	return b
}

// Wait is a row of waits for another process.
type Wait struct {
	Function, Phase                        string
	Job, Rank                              int32
	Stack                                  []uint64
	Calls, Ticks, SharedCalls, SharedTicks uint64
}

// Waits appends rows of waits.
func (p *Profile) Waits(waits ...Wait) {
	var rows [][]byte
	for _, w := range waits {
		b := le.AppendUint32(le.AppendUint32(rowHead(0), p.Text(w.Function)), p.Text(w.Phase))
		b = p.stack(le.AppendUint32(le.AppendUint32(b, uint32(w.Job)), uint32(w.Rank)), w.Stack)
		for _, v := range []uint64{w.Calls, w.Ticks, w.SharedCalls, w.SharedTicks} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, b)
	}
	p.rows("profile waits", p.waitBytes(), rows)
}

func (p *Profile) rows(table string, bytes int, rows [][]byte) {
	p.Stream.Seal() // declarations come first
	p.Stream.Rows(p.tables[table], (bytes+63)/64*64, rows...)
}

// Peer is a row of messages with another process.
type Peer struct {
	Thread                                                   uint32
	Job, Rank                                                int32
	Phase                                                    string
	OneSided                                                 bool
	MessagesSent, BytesSent, MessagesReceived, BytesReceived uint64
}

// Peers appends rows of messages by peer.
func (p *Profile) Peers(peers ...Peer) {
	var rows [][]byte
	for _, r := range peers {
		b := le.AppendUint32(le.AppendUint32(rowHead(r.Thread), uint32(r.Job)), uint32(r.Rank))
		b = le.AppendUint32(le.AppendUint32(b, p.Text(r.Phase)), bit(r.OneSided))
		for _, v := range []uint64{r.MessagesSent, r.BytesSent, r.MessagesReceived, r.BytesReceived} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, b)
	}
	p.rows("profile peers", 8+16+32, rows)
}

func bit(on bool) uint32 {
	if on {
		return 1
	}
	return 0
}

// Size is a row of messages by size: a number of messages of each size in bytes.
type Size struct {
	Function, Phase string
	Received        bool
	Messages        map[uint64]uint64
}

// Sizes appends rows of messages by size.
func (p *Profile) Sizes(sizes ...Size) {
	var rows [][]byte
	for _, s := range sizes {
		b := le.AppendUint32(le.AppendUint32(rowHead(0), p.Text(s.Function)), p.Text(s.Phase))
		b = le.AppendUint32(le.AppendUint32(b, bit(s.Received)), 0)
		var messages [40]uint64
		total := uint64(0)
		for size, n := range s.Messages {
			messages[min(bits.Len64(size), 39)] += n
			total += size * n
		}
		for _, n := range messages {
			b = le.AppendUint64(b, n)
		}
		rows = append(rows, le.AppendUint64(b, total))
	}
	p.rows("profile sizes", 8+16+41*8, rows)
}

// Algorithm is a row of how collective calls were served, of this many bytes each.
type Algorithm struct {
	Function, Phase     string
	Object              uint32
	Algorithm           string // as the agent writes it: the functions of the library
	Stack               []uint64
	Calls, Ticks, Bytes uint64
}

// Algorithms appends rows of algorithms.
func (p *Profile) Algorithms(algorithms ...Algorithm) {
	var rows [][]byte
	for _, a := range algorithms {
		b := rowHead(0)
		for _, v := range []uint32{p.Text(a.Function), p.Text(a.Phase), a.Object, uint32(bits.Len64(a.Bytes)), p.Text(a.Algorithm), 0} {
			b = le.AppendUint32(b, v)
		}
		b = p.stack(b, a.Stack)
		for _, v := range []uint64{a.Calls, a.Ticks, a.Calls * a.Bytes} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, b)
	}
	p.rows("profile algorithms", p.algorithmBytes(), rows)
}

// Phase is a row of phases.
type Phase struct {
	Thread                            uint32
	Name                              string
	Entered, Ticks, First, Last, Self uint64 // Self 0: Ticks
}

// Phases appends rows of phases.
func (p *Profile) Phases(phases ...Phase) {
	var rows [][]byte
	for _, ph := range phases {
		b := le.AppendUint32(le.AppendUint32(rowHead(ph.Thread), p.Text(ph.Name)), 0)
		if ph.Self == 0 {
			ph.Self = ph.Ticks
		}
		for _, v := range []uint64{ph.Entered, ph.Ticks, ph.First, ph.Last, ph.Self} {
			b = le.AppendUint64(b, v)
		}
		rows = append(rows, b)
	}
	p.rows("profile phases", 8+8+40, rows)
}

// Object is a row of objects.
type Object struct {
	ID, Kind           uint32
	Size               int32
	Name, MadeBy       string
	Parent, Order      uint32
	Freed              bool
	Group, Collectives uint64
	Side               uint64 // of intercommunicators
	Rank, Job          int32
	MadeAt             uint64 // ticks
}

// Objects appends rows of objects.
func (p *Profile) Objects(objects ...Object) {
	var rows [][]byte
	for _, o := range objects {
		b := rowHead(0)
		for _, v := range []uint32{o.ID, o.Kind, uint32(o.Size), p.Text(o.Name), p.Text(o.MadeBy), o.Parent, o.Order, bit(o.Freed)} {
			b = le.AppendUint32(b, v)
		}
		b = le.AppendUint64(le.AppendUint64(le.AppendUint64(b, o.Group), o.Collectives), o.Side)
		rows = append(rows, le.AppendUint64(le.AppendUint32(le.AppendUint32(b, uint32(o.Rank)), uint32(o.Job)), o.MadeAt))
	}
	p.rows("objects", 8+32+40, rows)
}

// Neighbors appends rows of the neighbours in a communicator, of which the process has count.
func (p *Profile) Neighbors(object uint32, count int, ranks ...int32) {
	if count == 0 {
		ranks = []int32{-1}
	}
	var rows [][]byte
	for i, rank := range ranks {
		b := rowHead(0)
		for _, v := range []uint32{object, uint32(i), uint32(rank), uint32(count)} {
			b = le.AppendUint32(b, v)
		}
		rows = append(rows, b)
	}
	p.rows("neighbors", 8+16, rows)
}

// Open writes the row of a process's first thread: the call that it is in, since when, and the last heartbeat.
func (p *Profile) Open(function string, calls, since, beat uint64) {
	p.where(1, function, calls, since, beat)
}

// Outside writes the row of a process's first thread, which is in no call: the last one, and when it returned.
func (p *Profile) Outside(function string, calls, since, beat uint64) {
	p.where(0, function, calls, since, beat)
}

func (p *Profile) where(inside uint32, function string, calls, since, beat uint64) {
	b := le.AppendUint32(le.AppendUint32(rowHead(0), 4711), inside)
	b = le.AppendUint32(le.AppendUint32(b, p.Text(function)), 0)
	for _, v := range []uint64{calls, 2*calls + 1, since, beat} {
		b = le.AppendUint64(b, v)
	}
	p.rows("where", 8+16+32, [][]byte{b})
}

// Arrival is a call in a row of arrivals, in ticks. Role: 0: without a root; 1: this process is it; 2: another one.
type Arrival struct {
	Call, Enter, Leave uint64
	Size, Role         uint32
}

const mostArrivals = 64

// Arrivals appends a row of arrivals.
func (p *Profile) Arrivals(function, phase string, object, part uint32, stack []uint64, calls ...Arrival) {
	bytes := 8 + 16 + int(p.Depth)*8 + 16 + mostArrivals*32
	if _, declared := p.tables["profile arrivals"]; !declared {
		times := func(name string) Field { return Field{Name: name, Type: 4, Meaning: 3, Count: mostArrivals} }
		fields := []Field{{Name: "function", Type: 3, Meaning: 1}, {Name: "phase", Type: 3, Meaning: 1}, {Name: "object", Type: 3}, {Name: "part", Type: 3}}
		if p.Depth > 0 {
			fields = append(fields, Field{Name: "stack", Type: 4, Meaning: 2, Count: p.Depth})
		}
		keys := uint32(len(fields))
		p.declare("profile arrivals", keys, bytes, append(fields, Field{Name: "limit", Type: 4, Merge: 1}, Field{Name: "kept", Type: 3}, Field{Name: "reserved", Type: 3},
			Field{Name: "instance", Type: 4, Count: mostArrivals}, times("enter"), times("leave"), Field{Name: "size", Type: 3, Count: mostArrivals}, Field{Name: "role", Type: 3, Count: mostArrivals})...)
	}
	b := rowHead(0)
	for _, v := range []uint32{p.Text(function), p.Text(phase), object, part} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint64(p.stack(b, stack), ^uint64(0))
	b = le.AppendUint64(b, uint64(len(calls)))
	calls = append(calls[:len(calls):len(calls)], make([]Arrival, mostArrivals-len(calls))...)
	for _, of := range []func(Arrival) uint64{func(c Arrival) uint64 { return c.Call }, func(c Arrival) uint64 { return c.Enter }, func(c Arrival) uint64 { return c.Leave }} {
		for _, c := range calls {
			b = le.AppendUint64(b, of(c))
		}
	}
	for _, of := range []func(Arrival) uint32{func(c Arrival) uint32 { return c.Size }, func(c Arrival) uint32 { return c.Role }} {
		for _, c := range calls {
			b = le.AppendUint32(b, of(c))
		}
	}
	p.rows("profile arrivals", bytes, [][]byte{b})
}
