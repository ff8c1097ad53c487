package waits

import "math"

// wait is the part of a call in which it waited: from its beginning until an event of another track.
type wait struct {
	kind  Kind
	on    Ref   // the call whose beginning ended it
	until int64 // when that was
	edge  int32 // of a message, its number; -1: none
}

// wait is why a call waited; its kind is None if it did not. See settle.
func (p *Program) wait(of Ref) wait {
	if p.at(of).needs&waitsBit == 0 {
		return wait{}
	}
	return p.find(of)
}

func (p *Program) find(of Ref) wait {
	t := &p.tracks[of.Track]
	c := t.calls.at(of.Call)
	if c.collective() {
		x := p.meetings.at(int32(c.number()))
		on := p.needed(x, of)
		if on == nobody || on == of {
			return wait{}
		}
		if until := p.at(on).begin; until > c.begin && until <= c.end { // a rank that left before the last one came did not wait for it
			return wait{x.kind, on, until, -1}
		}
		return wait{}
	}
	w := wait{until: c.begin}
	for n := c.first(); n != 0; {
		e := t.edges.at(int32(n - 1))
		number := int32(n - 1)
		n = e.next
		on := p.source(of, e)
		if on == nobody {
			continue
		}
		until := p.at(on).begin
		if until < w.until || until == w.until && !p.first(e.kind, on, &w) || until > c.end || p.copied(of, e) {
			continue
		}
		w = wait{e.kind, on, until, number}
	}
	if w.kind == lateSynchronous || w.kind == latePartitioned {
		w.kind = LateReceiver
	}
	return w
}

// first reports whether an event decides before another one at the same time: a message before a collective, a receive last, then the lower rank.
func (p *Program) first(kind Kind, on Ref, w *wait) bool {
	class := func(k Kind) int {
		switch k {
		case LateSender, WrongOrder:
			return 0
		case LateReceiver, lateSynchronous, latePartitioned:
			return 2
		}
		return 1
	}
	switch {
	case w.kind == None:
		return false
	case class(kind) != class(w.kind):
		return class(kind) < class(w.kind)
	case on.Track != w.on.Track:
		return p.precedes(on.Track, w.on.Track)
	}
	return on.Call < w.on.Call
}

// copied reports whether the library may have copied a message, so that its send did not wait for the receive.
func (p *Program) copied(of Ref, e *edge) bool {
	if !e.kind.ofReceiver() {
		return false
	}
	c := p.classOf(of.Track, e.from.Track, e.kind == latePartitioned)
	return e.bytes() <= p.eager[c] || e.bytes() < p.late[c]
}

// source is the call whose beginning an edge is; nobody: none, or it is not known.
func (p *Program) source(of Ref, e *edge) Ref {
	switch {
	case e.from.Track != inMeeting:
		return e.from
	case e.kind == starts:
		return nobody
	}
	return p.needed(p.meetings.at(e.from.Call), of)
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

// settle finds the calls that wait and forgets the edges for which none does. It tells late senders apart: while a call waited for one, another
// message was there that its rank received later.
func (p *Program) settle() {
	for c := range p.late {
		p.late[c] = p.lateFrom(c)
	}
	parallel(len(p.tracks), func(i int) {
		t := &p.tracks[i]
		earliest := int64(math.MaxInt64) // when the messages of later calls were sent
		for k := t.calls.len() - 1; k >= 0; k-- {
			c := t.calls.at(k)
			if c.needs == 0 {
				continue
			}
			w := p.find(Ref{int32(i), k})
			if !c.collective() {
				if w.kind == LateSender && earliest <= c.begin && p.window == nil { // of a part, kinds are those of the whole
					t.edges.at(w.edge).kind = WrongOrder
				}
				earliest = min(earliest, p.keep(Ref{int32(i), k}, &w))
			}
			if w.kind != None {
				c.needs |= waitsBit
			}
		}
	})
}

// keep forgets those edges of a call that it cannot have waited for. It returns when the first of the messages was sent that it received.
func (p *Program) keep(of Ref, w *wait) (earliest int64) {
	t := &p.tracks[of.Track]
	c := t.calls.at(of.Call)
	earliest = math.MaxInt64
	n := c.number()
	c.needs = 0
	for last := &c.needs; n != 0; {
		e := t.edges.at(int32(n - 1))
		number := n
		n, e.next = e.next, 0
		if e.from.Track != inMeeting {
			begin := p.at(e.from).begin
			if e.kind == LateSender || e.kind == WrongOrder {
				earliest = min(earliest, begin)
			}
			if begin > c.end || e.from != w.on && p.copied(of, e) {
				e.from = nobody
				continue
			}
		}
		*last = number
		last = &e.next
	}
	return earliest
}
