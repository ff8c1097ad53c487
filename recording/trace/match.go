package trace

import (
	"maps"
	"math/bits"
	"time"

	"mpitx/recording"
)

// maxUnmatched bounds the messages that wait for their other side: about 40 MB.
const maxUnmatched = 400_000

// stream is what MPI keeps in order: the messages of one communicator, sender, receiver and tag. Partitioned messages match only each other, and those of
// one request only those of one other: that which was initialized as the same one of these.
type stream struct {
	object              uint32
	source, destination int32
	tag                 int32
	channel             uint32 // numbers these requests, from 1; 0: it is not of partitioned messages
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
	completed                              uint32 // of a received one: its number by completion
	received, estimated, ambiguous, inside bool
	apart                                  bool // receives of the trace that are not complete do not say whether they have taken it: see leftovers
}

// half is a side with its number.
type half struct {
	id uint64 // of the number
	numbered
	side
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
	s := stream{message.Object.Whole().number, int32(rank), int32(message.Peer), int32(message.Tag), message.channel}
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
	return numbered{s, sequence}.id(), false
}

// id is not 0, and another one for each message, as good as certainly.
func (n numbered) id() uint64 {
	id := mix(uint64(n.object)<<32|uint64(uint32(n.tag)), uint64(uint32(n.source))<<32|uint64(uint32(n.destination)))
	return max(mix(id, uint64(n.channel)<<32|uint64(n.sequence)), 1)
}

func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xd6e8feb86659fd93)
	x := high ^ low ^ a<<1
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return x ^ x>>32
}

// joiner joins sends and receives.
type joiner struct {
	trace   *Trace
	arrow   func(sent, received side) // see [Trace.newArrow]
	matched *matched
	waiting map[uint64]int32 // by half.id: which of the sides
	sides   []half
	unused  []int32         // of these
	unsure  map[stream]bool // see outside
}

// matcher finds the messages of some ranks, and their numbers.
type matcher struct {
	trace  *Trace
	totals Totals
	processes
	repeats
	matched   *matched    // of which it changes starts only, as there is one for all ranks
	give      func(*half) // gets the sides of messages
	side      half        // that it gets
	receivers map[*process]*receiver
	last      *receiver // of lastOf, which was asked for last
	lastOf    *process
	chosen    map[int]bool // ranks
	chains    int          // that come before those of its ranks
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
	m := again(nil, outside{}, nil, cancels{})
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
	again(lost, known, nil, gone)
}

// matchKnowing reads the trace once. It returns nil if goOn stopped it.
func (t *Trace) matchKnowing(lost unposted, known outside, sends cancelsOf, gone cancels, goOn func(at time.Duration) bool) *matcher {
	t.matched = nil
	chosen, chains := map[int]bool{}, 0
	for _, r := range t.run.Ranks {
		chosen[r.Rank] = t.options.Rank == nil || t.options.Rank(r)
	}
	for _, c := range t.run.EventChains() {
		if t.options.Rank == nil || t.options.Rank(c.Rank) {
			chains++
		}
	}
	all := &matched{bits: make([][]uint64, chains), starts: make([][]start, chains), moved: map[place]uint32{}, cancels: gone}
	j := &joiner{trace: t, arrow: t.newArrow(), matched: all, waiting: map[uint64]int32{}, unsure: known.unsure}
	newMatcher := func(chains int) *matcher {
		m := &matcher{trace: t, processes: newProcesses(t), matched: all, receivers: map[*process]*receiver{}, chosen: chosen, chains: chains, lost: lost, found: unposted{}, known: known, sends: sends,
			seen:    outside{posted: map[*recording.Rank]map[int][]postedOutside{}, unsure: map[stream]bool{}},
			learned: cancels{gone: map[stream][]uint32{}, doubt: map[stream]uint32{}}}
		if sends == nil {
			m.sends = cancelsOf{}
		}
		return m
	}
	m, n := newMatcher(0), 0
	if j.arrow == nil && t.run.Still() {
		if !j.readInTurns(m, newMatcher, goOn) {
			return nil
		}
	} else {
		m.give = j.join
		if !m.read(t, func(at time.Duration) bool { n++; return n%(1<<14) != 0 || goOn(at) }) {
			return nil
		}
	}
	t.Totals.add(&m.totals)
	for _, n := range j.waiting {
		if j.sides[n].inside {
			t.Totals.Unmatched++
		}
	}
	t.left = m.leftovers(j)
	t.matched = all
	return m
}

// readInTurns lets goroutines read the ranks, each with a matcher of its own. What these have found is added to m.
func (j *joiner) readInTurns(m *matcher, newMatcher func(chains int) *matcher, goOn func(at time.Duration) bool) bool {
	parts := j.trace.parts()
	matchers, readers := make([]*matcher, len(parts)), make([]func(*writer[half]), len(parts))
	for i, part := range parts {
		matchers[i] = newMatcher(part.chains)
		readers[i] = func(w *writer[half]) {
			matchers[i].give = func(h *half) { *w.add() = *h }
			matchers[i].read(part, w.event)
		}
	}
	whole := inTurns(readers, func(batch []half, at time.Duration) bool {
		for i := range batch {
			j.join(&batch[i])
		}
		return goOn(at)
	})
	for _, other := range matchers {
		m.add(other)
	}
	return whole
}

// read reads the events of a part of the trace. It returns false if goOn does.
func (m *matcher) read(part *Trace, goOn func(at time.Duration) bool) bool {
	for e := range part.run.Events(newDecoder(part).options()) {
		if !goOn(e.Time) {
			return false
		}
		m.begin(e)
		m.event(e)
	}
	for _, r := range m.receivers {
		r.finish()
	}
	return true
}

// add adds what a matcher of other ranks has found.
func (m *matcher) add(o *matcher) {
	m.totals.add(&o.totals)
	maps.Copy(m.all, o.all)
	maps.Copy(m.receivers, o.receivers)
	maps.Copy(m.found, o.found)
	maps.Copy(m.seen.posted, o.seen.posted)
	maps.Copy(m.seen.unsure, o.seen.unsure)
	maps.Copy(m.sends, o.sends)
	maps.Copy(m.learned.gone, o.learned.gone)
	maps.Copy(m.learned.doubt, o.learned.doubt)
}

// begin notes where blocks begin.
func (m *matcher) begin(e *recording.Event) {
	all := &m.matched.starts[m.chains+e.Chain]
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
		m.totals.Unmatched++
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
	t := &m.totals
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
		m.totals.LostEvents++
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
		if l.kind == kindPost || flags&flagSent != 0 || of.peer == None {
			of = pattern{}
		}
		m.receiver(p).post(request, l.u64(e.Body, fieldBegin), of, flags&flagConcurrent != 0)
	}
}

// identify is the number of a message, and whether it is known, of a sender's side. Its object is 0 if that or the peer is not known.
func (p *process) identify(e *recording.Event, l *layout) (n numbered, known bool) {
	object := p.object(l.u32(e.Body, fieldObject))
	peer, ok := p.find(object, l.i32(e.Body, fieldPeer), l.i32(e.Body, fieldJob))
	n = numbered{stream{0, int32(e.Rank.Rank), int32(peer), int32(l.i32(e.Body, fieldTag)), l.u32(e.Body, fieldChannel)}, l.u32(e.Body, fieldSequence)}
	if object != nil && ok {
		n.object = object.Whole().number
	}
	return n, n.object != 0 && n.sequence != 0
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
	at := side{place: place{m.chains + e.Chain, m.counted[e.Chain]}, bytes: l.u64(e.Body, fieldBytes), received: flags&flagReceived != 0,
		estimated: flags&flagEstimated != 0, ambiguous: flags&flagConcurrent != 0, inside: inside}
	m.counted[e.Chain]++
	if m.trace.arrows != nil {
		if at.at = e.Time; !at.received {
			at.at = m.trace.run.TimeAt(e.Rank, l.u64(e.Body, fieldBegin))
		}
	}
	if inside {
		if at.received {
			m.totals.Received++
		} else {
			m.totals.Sent++
		}
	}
	id, peer := l.u32(e.Body, fieldObject), l.i32(e.Body, fieldPeer)
	n, known := p.identify(e, l)
	at.apart = n.channel != 0 || l.i32(e.Body, fieldJob) != 0
	if inside && l.i32(e.Body, fieldJob) != 0 && !known { // older agents do not number them
		m.totals.OtherJobs++
		at.inside = false // it is not unmatched, too
	}
	if flags&flagPartitioned != 0 && n.channel == 0 { // the order of its initialization is not known, or an older agent does not say it
		if inside && !at.received {
			m.totals.Partitioned++
		}
		at.inside, known = false, false
	}
	if !at.received {
		m.send(n, at, known, requestID{e.Rank, l.u32(e.Body, fieldRequest)})
		return
	}
	n.source, n.destination = n.destination, n.source
	at.completed = n.sequence
	if l.at[fieldChannel] >= 0 { // it is partitioned, so it takes no other message
		m.join(n, at, known)
		return
	}
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
				m.totals.Cancelled++
			}
			return
		}
		n.sequence = number
	}
	m.join(n, s, known)
}

// join gives a side, if its number is known.
func (m *matcher) join(n numbered, s side, known bool) {
	other := n.destination
	if s.received {
		other = n.source
	}
	if !known || !m.chosen[int(other)] {
		m.unmatched(s.inside)
		return
	}
	m.side = half{n.id(), n, s}
	m.give(&m.side)
}

// join matches one side of a message with the other one.
func (j *joiner) join(h *half) {
	s, t := h.side, &j.trace.Totals
	if s.received && s.place != nowhere && h.sequence != s.completed {
		if len(j.matched.moved) < maxMoved {
			j.matched.moved[s.place] = h.sequence
		} else {
			s.ambiguous = true
		}
	}
	unmatched := func(inside bool) {
		if inside {
			t.Unmatched++
		}
	}
	n, ok := j.waiting[h.id]
	if !ok {
		if len(j.waiting) >= maxUnmatched {
			unmatched(s.inside)
		} else {
			j.wait(h)
		}
		return
	}
	first := j.sides[n].side
	switch {
	case first.received == s.received: // damage: two messages with one number
		unmatched(s.inside)
	default:
		delete(j.waiting, h.id)
		j.unused = append(j.unused, n)
		switch {
		case !first.inside || !s.inside:
			unmatched(first.inside || s.inside)
		case first.ambiguous || s.ambiguous || j.unsure[h.stream] || j.matched.doubtful(h.stream, h.sequence), first.bytes != s.bytes && !first.estimated && !s.estimated:
			t.Ambiguous++
		default:
			t.Flows++
			j.matched.set(first.place)
			j.matched.set(s.place)
			switch {
			case j.arrow == nil:
			case s.received:
				j.arrow(first, s)
			default:
				j.arrow(s, first)
			}
		}
	}
}

// wait keeps a side until the other one comes.
func (j *joiner) wait(h *half) {
	n := int32(len(j.sides))
	if k := len(j.unused); k > 0 {
		n, j.unused = j.unused[k-1], j.unused[:k-1]
		j.sides[n] = *h
	} else {
		j.sides = append(j.sides, *h)
	}
	j.waiting[h.id] = n
}
