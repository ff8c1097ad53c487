package trace

import (
	"slices"

	"mpitx/recording"
)

// cancels says which sends MPI_Cancel has cancelled: their messages are not received, and later ones of the stream have lower numbers at
// the receiver.
type cancels struct {
	gone  map[stream][]uint32 // the numbers of sends that were cancelled, ascending
	doubt map[stream]uint32   // the number at the receiver from which on the order is not known, as the outcome is not
}

// number is the number of a send's message at the receiver.
func (c *cancels) number(s stream, sequence uint32) (number uint32, cancelled bool) {
	before, cancelled := slices.BinarySearch(c.gone[s], sequence)
	return sequence - uint32(before), cancelled
}

func (c *cancels) doubtful(s stream, number uint32) bool {
	from, ok := c.doubt[s]
	return ok && number >= from
}

// requestID identifies a request. A persistent one may be started and cancelled more than once.
type requestID struct {
	rank   *recording.Rank
	number uint32
}

// cancelling is a send for whose request MPI_Cancel is called somewhere in the trace.
type cancelling struct {
	stream
	sequence uint32 // of the newest send; 0: it is not in the trace
	asked    bool   // for that send, and no outcome so far
}

// cancelsOf says which sends were cancelled, by their requests. It is nil until these are known.
type cancelsOf map[requestID]*cancelling

// started notes the number of a send.
func (all cancelsOf) started(of requestID, n numbered, c *cancels) {
	if x := all[of]; x != nil {
		x.settle(c)
		*x = cancelling{stream: n.stream, sequence: n.sequence}
	}
}

// settle notes that the outcome of a cancellation is not known.
func (x *cancelling) settle(c *cancels) {
	if before, ok := c.doubt[x.stream]; x.asked && (!ok || x.sequence < before) {
		c.doubt[x.stream] = x.sequence
	}
	x.asked = false
}

// cancel reads what an event says about a cancellation. The first time, it only finds the requests.
func (m *matcher) cancel(e *recording.Event, p *process, l *layout) {
	request, outcome := requestID{e.Rank, l.u32(e.Body, fieldRequest)}, l.u32(e.Body, fieldOutcome)
	if l.u32(e.Body, fieldFlags)&flagReceived != 0 {
		if outcome == outcomeCancelled {
			m.receiver(p).cancel(request.number)
		}
		return
	}
	n, _ := p.identify(e, l)
	if n.object == 0 { // its messages have no flow
		return
	}
	x := m.sends[request]
	if x == nil {
		x = &cancelling{}
		m.sends[request] = x
	}
	if x.sequence == 0 {
		x.stream = n.stream
	}
	switch {
	case outcome == outcomeAsked, outcome == outcomeCancelled && x.sequence == 0:
		x.asked = true
	case outcome == outcomeCancelled:
		m.learned.gone[x.stream] = append(m.learned.gone[x.stream], x.sequence)
		x.asked = false
	default:
		x.asked = false
	}
}

// outcome is what a reading that knows the requests has learned.
func (m *matcher) outcome() cancels {
	for _, x := range m.sends {
		x.settle(&m.learned)
	}
	for s, all := range m.learned.gone {
		slices.Sort(all)
		m.learned.gone[s] = slices.Compact(all)
	}
	for s, from := range m.learned.doubt {
		m.learned.doubt[s], _ = m.learned.number(s, from)
	}
	return m.learned
}
