package queues

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"mpitx/recording"
	"mpitx/recording/trace"
)

// mostPairs bounds the messages that Derive remembers: about 270 MB.
var mostPairs = 2_000_000

// pair is a message whose send and receive are known.
type pair struct {
	rank, peer           int32 // that received and sent it
	comm, tag            int32
	sent, posted, notify time.Duration
	sender, receiver     place // the calls that sent it and that posted the receive
}

// Derive computes the queues of a trace from its calls, for libraries that raise no events. A message that was sent before its receive
// was posted may have waited in the queue of unexpected messages until then, and a receive that was posted before has waited at least
// until the message was sent. So Unexpected, InUnexpected and the lengths of the queues are upper bounds, Expected and InPosted are lower
// bounds. It returns nil if the run has no trace.
func Derive(run *recording.Run, o recording.Options) *Queues {
	if !trace.Has(run) {
		return nil
	}
	d := deriver{comms: map[string]int32{}, halves: map[uint64]pair{}}
	t := trace.Read(run, trace.Options{From: o.From, To: o.To, Flows: true})
	for e := range t.Events {
		d.lost += e.Lost
		if e.Call == nil {
			continue
		}
		for i := range e.Call.Messages {
			if m := &e.Call.Messages[i]; m.Flow != 0 && m.Posted > 0 {
				d.side(m, e.Rank)
			}
		}
	}
	left := t.Unreceived()
	chosen := func(rank int) bool {
		return o.Rank == nil || slices.ContainsFunc(run.Ranks, func(r *recording.Rank) bool { return r.Rank == rank && o.Rank(r) })
	}
	pairs := slices.DeleteFunc(d.pairs, func(p pair) bool { return !chosen(int(p.rank)) })
	left = slices.DeleteFunc(left, func(u trace.Unreceived) bool { return !chosen(u.To) && !chosen(u.Rank.Rank) })
	return d.queues(pairs, left)
}

type deriver struct {
	names  []string
	comms  map[string]int32
	halves map[uint64]pair // by flow: what came first
	pairs  []pair
	lost   uint64
	later  uint64 // messages after the first mostPairs
}

func (d *deriver) comm(o *trace.Object) int32 {
	name := strings.Clone(o.String())
	n, known := d.comms[name]
	if !known {
		n = int32(len(d.names))
		d.comms[name] = n
		d.names = append(d.names, name)
	}
	return n
}

func (d *deriver) side(m *trace.Message, rank *recording.Rank) {
	p, other := d.halves[m.Flow]
	switch {
	case !other && len(d.halves)+len(d.pairs) >= mostPairs:
		if m.Received {
			d.later++
		}
		return
	case m.Received:
		p.rank, p.peer, p.comm, p.tag, p.posted, p.notify = int32(rank.Rank), int32(m.Peer), d.comm(m.Object), int32(m.Tag), m.Posted, m.Done
		p.receiver = place{rank, m.Site}
	default:
		p.sent, p.sender = m.Posted, place{rank, m.Site}
	}
	if !other {
		d.halves[m.Flow] = p
		return
	}
	delete(d.halves, m.Flow)
	d.pairs = append(d.pairs, p)
}

// moment is when something happened to a message.
type moment struct {
	at   time.Duration
	pair int32
	end  int32 // 1: the second of its two moments
}

// queues computes the queues from messages, and from those that were never received.
func (d *deriver) queues(pairs []pair, left []trace.Unreceived) *Queues {
	moments := make([]moment, 0, 2*len(pairs))
	from, to := time.Duration(1<<63-1), time.Duration(0)
	received := len(pairs)
	for i := range left {
		u := &left[i]
		for _, at := range u.Sent {
			pairs = append(pairs, pair{rank: int32(u.To), peer: int32(u.Rank.Rank), comm: d.comm(u.Object), tag: int32(u.Tag), sent: at, posted: at + 1})
		}
	}
	for i, p := range pairs {
		if i >= received {
			moments = append(moments, moment{p.sent, int32(i), 0})
			from, to = min(from, p.sent), max(to, p.sent)
			continue
		}
		moments = append(moments, moment{min(p.sent, p.posted), int32(i), 0}, moment{max(p.sent, p.posted), int32(i), 1})
		from, to = min(from, p.sent, p.posted), max(to, p.sent, p.posted, p.notify)
	}
	slices.SortFunc(moments, func(a, b moment) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.pair, b.pair), cmp.Compare(a.end, b.end))
	})
	a := NewAdder("calls", min(from, to), to)
	for _, m := range moments {
		p := &pairs[m.pair]
		e := Event{Time: m.at, Rank: int(p.rank), Comm: d.names[p.comm], Peer: int(p.peer), Tag: int(p.tag), Request: uint64(m.pair) + 1}
		switch late := p.sent < p.posted; {
		case late && m.end == 0:
			a.arrived(&e)
		case late:
			a.left(&e)
		case m.end == 0:
			a.request(&e).mark(posted, m.at)
			a.change(&e, Posted, +1)
		default:
			a.removed(&e)
		}
		if m.end > 0 {
			a.peer(&e).Spans[ActivateToNotify].add(max(p.notify-p.posted, 0))
			delete(a.requests, requestKey{e.Rank, e.Request})
		}
	}
	q := a.Queues()
	q.Derived, q.Lost, q.Later = true, d.lost, d.later
	q.sites = d.sites(pairs[:received])
	q.Unreceived = left
	return q
}
