package waits

import "time"

// Window is the part of the run that an analysis is of.
type Window struct {
	From    time.Duration `json:"from_ns"` // since the job's start
	To      time.Duration `json:"to_ns"`
	Cut     uint64        `json:"cut_calls"`     // that reach beyond the part: their time outside of it is left out
	Outside uint64        `json:"outside_calls"` // that are left out
	End     time.Duration `json:"-"`             // of the whole
}

// Within is the part of a program between two times. What happened before and after is one call each of every track, at the edge of the part: a wait that
// ends later ends with the part, and what was sent before is there. The program does not change any more.
func (p *Program) Within(from, to time.Duration) *Program {
	p.meet()
	p.settle()
	_, end := p.span()
	to = max(min(to, time.Duration(end)), from)
	q := &Program{sites: p.sites, codes: p.codes, codeOf: p.codeOf, Nodes: p.Nodes, eager: p.eager, ends: p.ends, Missing: p.Missing, window: &Window{From: from, To: to, End: time.Duration(end)}}
	x := cut{whole: p, part: q, from: int64(from), to: int64(to), inside: make([][2]int32, len(p.tracks)), meetings: map[int32]int32{}}
	for i := range p.tracks {
		x.calls(i)
	}
	for i := range p.tracks {
		for k := x.inside[i][0]; k < x.inside[i][1]; k++ {
			x.needs(Ref{int32(i), k})
		}
	}
	return q
}

// cut makes the part of a program.
type cut struct {
	whole, part *Program
	from, to    int64
	inside      [][2]int32      // by track: the first call that is not before the part, and the first one after it
	meetings    map[int32]int32 // their numbers in the part
}

func (x *cut) clip(at int64) int64 { return min(max(at, x.from), x.to) }

// calls adds the calls of a track.
func (x *cut) calls(number int) {
	t, w := &x.whole.tracks[number], x.part.window
	first := t.calls.search(func(c *call) bool { return c.end <= x.from })
	after := max(t.calls.search(func(c *call) bool { return c.begin < x.to }), first)
	x.inside[number] = [2]int32{first, after}
	n := track{rank: t.rank, thread: t.thread, node: t.node, start: x.clip(t.start), origin: t.origin}
	if first > 0 {
		n.calls.add(call{begin: x.from, end: x.from, site: t.calls.at(first - 1).site})
	}
	for k := first; k < after; k++ {
		c := t.calls.at(k)
		if c.begin < x.from || c.end > x.to {
			w.Cut++
		}
		n.calls.add(call{begin: x.clip(c.begin), end: x.clip(c.end), site: c.site})
	}
	if after < t.calls.len() {
		n.calls.add(call{begin: x.to, end: x.to, site: t.calls.at(after).site})
	}
	w.Outside += uint64(first) + uint64(t.calls.len()-after)
	x.part.tracks = append(x.part.tracks, n)
}

// ref is the call of the part for one of the whole. outside: it stands for all calls before or after the part.
func (x *cut) ref(of Ref) (r Ref, outside bool) {
	first, after := x.inside[of.Track][0], x.inside[of.Track][1]
	n := min(first, 1) // calls before
	switch {
	case of.Call < first:
		return Ref{of.Track, 0}, true
	case of.Call >= after:
		return Ref{of.Track, after - first + n}, true
	}
	return Ref{of.Track, of.Call - first + n}, false
}

// needs adds what a call needs.
func (x *cut) needs(of Ref) {
	t := &x.whole.tracks[of.Track]
	c := t.calls.at(of.Call)
	r, _ := x.ref(of)
	beyond := c.end >= x.to // what it waited for may be after the part, so only that counts
	if beyond {
		if w := x.whole.wait(of); w.kind != None {
			on, _ := x.ref(w.on)
			e := edge{kind: w.kind}
			if w.edge >= 0 {
				e = *t.edges.at(w.edge)
			}
			x.part.need(r, on, e.kind, uint64(e.bytes()))
		}
	}
	if c.collective() {
		switch n := x.meeting(int32(c.number())); {
		case n < 0:
		case beyond:
			x.part.need(r, Ref{inMeeting, n}, starts, 0)
		default:
			x.part.meetings.at(n).needs++
			x.part.at(r).needs = collectiveBit | uint32(n)
		}
		return
	}
	for n := c.first(); n != 0; {
		e := t.edges.at(int32(n - 1))
		n = e.next
		switch {
		case beyond && e.kind != starts:
		case e.from.Track != inMeeting:
			on, _ := x.ref(e.from)
			x.part.need(r, on, e.kind, uint64(e.bytes()))
		default:
			m := x.meeting(e.from.Call)
			if m < 0 {
				continue
			}
			if e.kind != starts {
				x.part.meetings.at(m).needs++
			}
			x.part.need(r, Ref{inMeeting, m}, e.kind, 0)
		}
	}
}

// meeting is the number of a collective in the part; -1: nothing is known of its waits.
func (x *cut) meeting(n int32) int32 {
	if number, known := x.meetings[n]; known {
		return number
	}
	y := *x.whole.meetings.at(n)
	if y.shape == 0 {
		x.meetings[n] = -1
		return -1
	}
	number := x.part.meetings.len()
	x.meetings[n] = number
	all := y.calls
	y.calls, y.lower, y.last, y.needs = make([]Ref, len(all)), nil, nobody, 0
	for m, of := range all {
		r, outside := x.ref(of)
		y.calls[m] = r
		if outside {
			x.part.need(r, Ref{inMeeting, number}, starts, 0)
		}
	}
	x.part.meetings.add(y)
	return number
}
