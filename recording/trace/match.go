package trace

import (
	"math/bits"
	"time"

	"mpitx/recording"
)

// maxUnmatched bounds the messages that wait for their other side: about 40 MB.
const maxUnmatched = 400_000

// stream is what MPI keeps in order: the messages of one communicator, sender, receiver and tag.
type stream struct {
	object              uint32
	source, destination int32
	tag                 int32
}

// numbered is a message of a stream.
type numbered struct {
	stream
	sequence uint32
}

// place is a message in the trace: the chain of events, and which of the chain's messages.
type place struct {
	chain   int
	counted uint64
}

// nowhere is the place of a message that is not in the trace.
var nowhere = place{chain: -1}

// side is a sent or received message whose other side has not come yet.
type side struct {
	place
	at                                     time.Duration // with Trace.arrows: when the call that sent it began, or the one that received it returned
	bytes                                  uint64
	received, estimated, ambiguous, inside bool
}

// matched says which messages have a flow.
type matched struct {
	bits  [][]uint64       // by chain: one bit for each message
	moved map[place]uint32 // the numbers of receives that completed in another order than they were posted
	cancels

	starts [][]start // by chain
}

// start is how many messages of a chain come before a block.
type start struct{ block, counted uint64 }

func (m *matched) set(p place) {
	for len(m.bits) <= p.chain {
		m.bits = append(m.bits, nil)
	}
	words := m.bits[p.chain]
	for uint64(len(words)) <= p.counted/64 {
		words = append(words, 0)
	}
	words[p.counted/64] |= 1 << (p.counted % 64)
	m.bits[p.chain] = words
}

// flow is the identifier of a message's flow; 0 if it has none.
func (m *matched) flow(chain int, counted uint64, rank int, message *Message) (id uint64, cancelled bool) {
	if message.Object == nil { // damage
		return 0, false
	}
	s := stream{message.Object.number, int32(rank), int32(message.Peer), int32(message.Tag)}
	sequence := message.Sequence
	if !message.Received && len(m.gone) > 0 {
		if sequence, cancelled = m.number(s, sequence); cancelled {
			return 0, true
		}
	}
	if chain >= len(m.bits) || counted/64 >= uint64(len(m.bits[chain])) || m.bits[chain][counted/64]>>(counted%64)&1 == 0 {
		return 0, false
	}
	if message.Received {
		s.source, s.destination = s.destination, s.source
		if len(m.moved) > 0 {
			if other, ok := m.moved[place{chain, counted}]; ok {
				sequence = other
			}
		}
	}
	id = mix(uint64(s.object)<<32|uint64(uint32(s.tag)), uint64(uint32(s.source))<<32|uint64(uint32(s.destination)))
	return max(mix(id, uint64(sequence)), 1), false
}

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	x := high ^ low ^ a<<1
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// matcher joins sends and receives.
type matcher struct {
	trace *Trace
	arrow func(sent, received side) // see [Trace.newArrow]
	processes
	repeats
	matched   *matched
	waiting   map[numbered]side
	receivers map[*process]*receiver
	last      *receiver // of lastOf, which was asked for last
	lastOf    *process
	chosen    map[int]bool // ranks
	counted   []uint64     // messages so far, by chain

	lost, found unposted // known, and found now
	known, seen outside  // likewise
	sends       cancelsOf
	learned     cancels // of sends
}

// unposted are receives whose posts are not in the trace, because events were lost or overwritten: their requests, by rank and by the
// number of losses of this rank before they completed.
type unposted map[*recording.Rank]map[int][]uint32

// outside are receives that were posted while nothing was recorded, but completed in the trace.
type outside struct {
	posted map[*recording.Rank]map[int][]postedOutside // by the part that follows
	unsure map[stream]bool                             // where it is not known which part follows
}

// postedOutside is such a receive, for the stream of the message that it took.
type postedOutside struct {
	request uint32
	of      pattern
}

// match reads the whole trace, and finds the messages that have a flow, unless goOn returns false. If it meets receives whose posts are
// not in the trace, or sends that were cancelled later, it starts again: while such a receive was waiting, the order of others is not
// known, and messages after such a send have other numbers.
func (t *Trace) match(goOn func(at time.Duration) bool) {
	before := t.Totals
	again := func(lost unposted, known outside, sends cancelsOf, gone cancels) *matcher {
		t.Totals = before
		return t.matchKnowing(lost, known, sends, gone, goOn)
	}
	m := again(nil, outside{}, cancelsOf{}, cancels{})
	if m == nil || len(m.found)+len(m.seen.posted)+len(m.seen.unsure)+len(m.sends) == 0 {
		return
	}
	lost, known, gone := m.found, m.seen, cancels{}
	if len(m.sends) > 0 {
		for _, x := range m.sends {
			*x = cancelling{}
		}
		if m = again(nil, outside{}, m.sends, cancels{}); m == nil {
			return
		}
		gone = m.outcome()
	}
	again(lost, known, cancelsOf{}, gone)
}

// matchKnowing reads the trace once. It returns nil if goOn stopped it.
func (t *Trace) matchKnowing(lost unposted, known outside, sends cancelsOf, gone cancels, goOn func(at time.Duration) bool) *matcher {
	t.matched = nil
	m := &matcher{trace: t, arrow: t.newArrow(), processes: newProcesses(t), matched: &matched{moved: map[place]uint32{}, cancels: gone}, waiting: map[numbered]side{},
		receivers: map[*process]*receiver{}, chosen: map[int]bool{}, lost: lost, found: unposted{}, known: known, sends: sends,
		seen:    outside{posted: map[*recording.Rank]map[int][]postedOutside{}, unsure: map[stream]bool{}},
		learned: cancels{gone: map[stream][]uint32{}, doubt: map[stream]uint32{}}}
	for _, r := range t.run.Ranks {
		m.chosen[r.Rank] = t.options.Rank == nil || t.options.Rank(r)
	}
	n := 0
	o := newDecoder(t).options()
	o.Loose = m.arrow == nil // both sides of a message may come first
	for e := range t.run.Events(o) {
		m.begin(e)
		m.event(e)
		if n++; n%(1<<14) == 0 && !goOn(e.Time) {
			return nil
		}
	}
	for _, r := range m.receivers {
		r.finish()
	}
	for _, s := range m.waiting {
		m.unmatched(s.inside)
	}
	t.left = m.leftovers()
	t.matched = m.matched
	return m
}

// begin notes where blocks begin.
func (m *matcher) begin(e *recording.Event) {
	for len(m.matched.starts) <= e.Chain {
		m.matched.starts = append(m.matched.starts, nil)
	}
	all := &m.matched.starts[e.Chain]
	if n := len(*all); n > 0 && (*all)[n-1].block == e.Block {
		return
	}
	counted := uint64(0)
	if e.Chain < len(m.counted) {
		counted = m.counted[e.Chain]
	}
	*all = append(*all, start{e.Block, counted})
}

func (m *matcher) unmatched(inside bool) {
	if inside {
		m.trace.Totals.Unmatched++
	}
}

func (m *matcher) receiver(p *process) *receiver {
	if m.lastOf == p {
		return m.last
	}
	r := m.receivers[p]
	if r == nil {
		r = newReceiver(m, p.rank)
		m.receivers[p] = r
	}
	m.last, m.lastOf = r, p
	return r
}

func (m *matcher) event(e *recording.Event) {
	t := &m.trace.Totals
	p := m.of(e.Rank)
	if e.Type == nil {
		if m.trace.inside(e.Time, e.Time) {
			t.lose(e)
		}
		m.receiver(p).lose()
		return
	}
	l := m.restore(e, p.layout(e.Type))
	if l == nil {
		m.trace.Totals.LostEvents++
		return
	}
	switch l.kind {
	case kindCancel:
		m.cancel(e, p, l)
		return
	case kindPart:
		m.receiver(p).part(l.u32(e.Body, fieldRequest), l.u64(e.Body, fieldBegin))
		return
	case kindHidden:
		m.hidden(e, p, l)
		return
	case kindCall, kindMessage, kindPost:
	default:
		return
	}
	flags, inside := l.u32(e.Body, fieldFlags), m.trace.insideCall(e, l)
	if l.kind == kindCall && inside {
		t.Calls++
	}
	if flags&(flagSent|flagReceived) != 0 {
		m.message(e, p, l, flags, inside)
	}
	if request := l.u32(e.Body, fieldRequest); flags&flagPosts != 0 && request != 0 {
		of := pattern{l.u32(e.Body, fieldObject), int32(l.i32(e.Body, fieldPeer)), int32(l.i32(e.Body, fieldTag))}
		if l.kind == kindPost || flags&flagSent != 0 || l.i32(e.Body, fieldJob) != 0 {
			of = pattern{}
		}
		m.receiver(p).post(request, l.u64(e.Body, fieldBegin), of, flags&flagConcurrent != 0)
	}
}

// identify is the number of a message, and whether it is known, of a sender's side.
func (p *process) identify(e *recording.Event, l *layout) (n numbered, known bool) {
	peer, object := l.i32(e.Body, fieldPeer), p.object(l.u32(e.Body, fieldObject))
	n = numbered{stream{0, int32(e.Rank.Rank), int32(p.peer(peer, 0)), int32(l.i32(e.Body, fieldTag))}, l.u32(e.Body, fieldSequence)}
	known = object != nil && object.number != 0 && n.sequence != 0 && peer >= 0 && l.i32(e.Body, fieldJob) == 0
	if known {
		n.object = object.number
	}
	return n, known
}

// hidden takes a message into account that a function received which the trace does not show.
func (m *matcher) hidden(e *recording.Event, p *process, l *layout) {
	n, known := p.identify(e, l)
	n.source, n.destination = n.destination, n.source
	at := side{place: nowhere, received: true, ambiguous: l.u32(e.Body, fieldFlags)&flagConcurrent != 0}
	of := pattern{l.u32(e.Body, fieldObject), int32(l.i32(e.Body, fieldPeer)), n.tag}
	m.receiver(p).complete(arrival{n, at, l.u64(e.Body, fieldBegin), known}, l.u32(e.Body, fieldRequest), of)
}

func (m *matcher) message(e *recording.Event, p *process, l *layout, flags uint32, inside bool) {
	for len(m.counted) <= e.Chain {
		m.counted = append(m.counted, 0)
	}
	at := side{place: place{e.Chain, m.counted[e.Chain]}, bytes: l.u64(e.Body, fieldBytes), received: flags&flagReceived != 0,
		estimated: flags&flagEstimated != 0, ambiguous: flags&flagConcurrent != 0, inside: inside}
	m.counted[e.Chain]++
	if m.arrow != nil {
		if at.at = e.Time; !at.received {
			at.at = m.trace.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin))
		}
	}
	if inside {
		if at.received {
			m.trace.Totals.Received++
		} else {
			m.trace.Totals.Sent++
		}
	}
	id, peer := l.u32(e.Body, fieldObject), l.i32(e.Body, fieldPeer)
	n, known := p.identify(e, l)
	if inside && l.i32(e.Body, fieldJob) != 0 {
		m.trace.Totals.OtherJobs++
		at.inside = false // it is not unmatched, too
	}
	if flags&flagPartitioned != 0 {
		if inside && !at.received {
			m.trace.Totals.Partitioned++
		}
		at.inside = false
	}
	if !at.received {
		m.send(n, at, known, requestID{e.Rank, l.u32(e.Body, fieldRequest)})
		return
	}
	n.source, n.destination = n.destination, n.source
	request := l.u32(e.Body, fieldRequest)
	if l.kind == kindCall && flags&flagPosts != 0 {
		request = 0
	}
	m.receiver(p).complete(arrival{n, at, l.u64(e.Body, fieldBegin), known}, request, pattern{id, int32(peer), n.tag})
}

// send joins a sent message, unless it was cancelled.
func (m *matcher) send(n numbered, s side, known bool, request requestID) {
	if known && len(m.sends) > 0 && request.number != 0 {
		m.sends.started(request, n, &m.learned)
	}
	if known && len(m.matched.gone) > 0 {
		number, cancelled := m.matched.number(n.stream, n.sequence)
		if cancelled {
			if s.inside {
				m.trace.Totals.Cancelled++
			}
			return
		}
		n.sequence = number
	}
	m.join(n, s, known)
}

// join matches one side of a message with the other one.
func (m *matcher) join(n numbered, s side, known bool) {
	other := n.destination
	if s.received {
		other = n.source
	}
	if !known || !m.chosen[int(other)] {
		m.unmatched(s.inside)
		return
	}
	first, ok := m.waiting[n]
	switch {
	case !ok && len(m.waiting) >= maxUnmatched:
		m.unmatched(s.inside)
	case !ok:
		m.waiting[n] = s
	case first.received == s.received: // damage: two messages with one number
		m.unmatched(s.inside)
	default:
		delete(m.waiting, n)
		switch {
		case !first.inside || !s.inside:
			m.unmatched(first.inside || s.inside)
		case first.ambiguous || s.ambiguous || m.known.unsure[n.stream] || m.matched.doubtful(n.stream, n.sequence), first.bytes != s.bytes && !first.estimated && !s.estimated:
			m.trace.Totals.Ambiguous++
		default:
			m.trace.Totals.Flows++
			m.matched.set(first.place)
			m.matched.set(s.place)
			switch {
			case m.arrow == nil:
			case s.received:
				m.arrow(first, s)
			default:
				m.arrow(s, first)
			}
		}
	}
}
