package waits

import "math"

// wait is the part of a call in which it waited: from its beginning until an event of another track.
type wait struct {
	kind  Kind
	on    Ref   // the call whose beginning ended it
	until int64 // when that was
	edge  int32 // of a message, its number; -1: none
}

// wait is why a call waited; its kind is None if it did not.
func (p *Program) wait(of Ref) wait {
	c := p.at(of)
	if c.needs == 0 {
		return wait{}
	}
	if c.needs&collectiveBit != 0 {
		x := &p.meetings[c.needs&^collectiveBit]
		on := p.needed(x, of)
		if on == nobody || on == of {
			return wait{}
		}
		if until := p.at(on).begin; until > c.begin && until <= c.end { // a rank that left before the last one came did not wait for it
			return wait{x.kind, on, until, -1}
		}
		return wait{}
	}
	w := wait{until: c.begin} // of a message and a receive at the same time, the message
	for n := c.needs; n != 0; n = p.edges[n-1].next {
		e := &p.edges[n-1]
		on := p.source(of, e)
		if on == nobody {
			continue
		}
		until := p.at(on).begin
		if until < w.until || until == w.until && (w.kind == None || e.kind != LateSender) || until > c.end || e.kind == LateReceiver && e.bytes <= p.eager[p.sameNode(of.Track, on.Track)] {
			continue
		}
		w = wait{e.kind, on, until, int32(n - 1)}
	}
	if w.kind == lateSynchronous {
		w.kind = LateReceiver
	}
	return w
}

// source is the call whose beginning an edge is; nobody: none, or it is not known.
func (p *Program) source(of Ref, e *edge) Ref {
	switch {
	case e.from.Track != inMeeting:
		return e.from
	case e.kind == starts:
		return nobody
	}
	return p.needed(&p.meetings[e.from.Call], of)
}

// length is how long a call waited.
func (w *wait) length(c *call) int64 {
	if w.kind == None {
		return 0
	}
	return w.until - c.begin
}

// own is the part of a call that no wait explains.
func (w *wait) own(c *call) int64 { return c.end - c.begin - w.length(c) }

// order tells late senders apart: while a call waited for one, another message was there that its rank received later.
func (p *Program) order() {
	for i := range p.tracks {
		calls := p.tracks[i].calls
		earliest := int64(math.MaxInt64) // when the messages of later calls were sent
		for k := len(calls) - 1; k >= 0; k-- {
			of := Ref{int32(i), int32(k)}
			c := &calls[k]
			if c.needs == 0 || c.needs&collectiveBit != 0 {
				continue
			}
			if w := p.wait(of); w.kind == LateSender && earliest <= c.begin {
				p.edges[w.edge].kind = WrongOrder
			}
			for n := c.needs; n != 0; n = p.edges[n-1].next {
				if e := &p.edges[n-1]; e.kind == LateSender || e.kind == WrongOrder {
					earliest = min(earliest, p.at(e.from).begin)
				}
			}
		}
	}
}
