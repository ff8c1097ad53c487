package waits

import "strings"

// scenario is what a replay changes.
type scenario struct {
	ideal  bool    // calls take no time but that in which they wait, unless they read or write files
	faster *Region // takes one tenth less time; nil: none
}

// replay plays the program again: each call begins when the computation before it is done, and ends when what it needs has happened and its own
// time has passed. It returns the run time. ok is false if calls need one another in a circle, by wrong clocks.
func (p *Program) replay(s scenario) (took int64, ok bool) {
	r := &replay{Program: p, scenario: s, begins: make([][]int64, len(p.tracks)), ends: make([]int64, len(p.tracks)), inside: make([]bool, len(p.tracks)),
		meets: make([]met, len(p.meetings)), waiters: make([][]waiter, len(p.tracks))}
	left := 0
	for i := range p.tracks {
		t := &p.tracks[i]
		if len(t.calls) > 0 {
			left++
			r.begins[i], r.ends[i] = make([]int64, 0, len(t.calls)), t.start
			r.ready = append(r.ready, int32(i))
		}
	}
	for len(r.ready) > 0 {
		i := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		for r.step(i) {
		}
		if !r.inside[i] {
			left--
		}
	}
	from, _ := p.span()
	for i := range p.tracks {
		if len(p.tracks[i].calls) > 0 {
			took = max(took, r.ends[i]-from)
		}
	}
	return took, left == 0
}

type replay struct {
	*Program
	scenario
	begins  [][]int64 // of the calls so far, by track
	ends    []int64   // of each track's last call
	inside  []bool    // the last call of begins has not ended
	meets   []met
	waiters [][]waiter // that need a later call of a track
	ready   []int32
}

// met is what is known of a collective.
type met struct {
	came    int32 // calls that have begun and that others wait for; of fromLower, of the lowest ranks
	last    int64
	waiters []waiter // for that many calls
	begins  []int64  // of fromLower, by rank; until came, the latest of it and of lower ranks
}

// waiter is a track that needs the call of another one, or so many calls of a collective.
type waiter struct{ track, needs int32 }

// wake makes those ready that need no more than there is.
func (r *replay) wake(all []waiter, there int32) []waiter {
	kept := all[:0]
	for _, w := range all {
		if w.needs <= there {
			r.ready = append(r.ready, w.track)
		} else {
			kept = append(kept, w)
		}
	}
	return kept
}

// step plays a track's next call. It returns false if the track is at its end, or needs what has not happened.
func (r *replay) step(i int32) bool {
	t := &r.tracks[i]
	k := int32(len(r.begins[i]))
	if r.inside[i] {
		k--
	}
	if int(k) == len(t.calls) {
		return false
	}
	c := &t.calls[k]
	of := Ref{i, k}
	code := r.codeOf[c.site]
	if !r.inside[i] {
		r.begins[i] = append(r.begins[i], r.ends[i]+r.scale(c.begin-t.before(k), Region{code, 0, true}))
		r.inside[i] = true
		r.begin(of, c)
		if len(r.waiters[i]) > 0 {
			r.waiters[i] = r.wake(r.waiters[i], k)
		}
	}
	until, ok := r.needs(of, c)
	if !ok {
		return false
	}
	w := r.wait(of)
	own := w.own(c)
	if r.ideal && !strings.HasPrefix(r.sites[c.site].Function, "MPI_File_") {
		own = 0
	}
	r.ends[i] = max(r.begins[i][k], until) + r.scale(own, Region{code, 0, false})
	r.inside[i] = false
	return true
}

func (s *scenario) scale(d int64, r Region) int64 {
	if s.faster != nil && r.Code == s.faster.Code && r.Compute == s.faster.Compute {
		return d - d/10
	}
	return d
}

// begin notes that a call has begun which others may need in a collective.
func (r *replay) begin(of Ref, c *call) {
	if c.needs&collectiveBit != 0 {
		r.meet(c.needs&^collectiveBit, of)
		return
	}
	for n := c.needs; n != 0; n = r.edges[n-1].next {
		if e := &r.edges[n-1]; e.kind == starts {
			r.meet(uint32(e.from.Call), of)
		}
	}
}

// meet notes that a call of a collective has begun.
func (r *replay) meet(n uint32, of Ref) {
	x, m := &r.meetings[n], &r.meets[n]
	rank, begin := r.tracks[of.Track].rank, r.begins[of.Track][of.Call]
	root := rank == int(x.root)
	switch {
	case x.shape == 0, x.shape == fromRoot && !root, x.shape == toRoot && root:
		return
	case x.shape == fromLower:
		r.scan(x, m, rank, begin)
	default:
		m.came, m.last = m.came+1, max(m.last, begin)
	}
	if len(m.waiters) > 0 {
		m.waiters = r.wake(m.waiters, m.came)
	}
}

// scan notes the same in a scan, whose ranks are those of MPI_COMM_WORLD.
func (r *replay) scan(x *meeting, m *met, rank int, begin int64) {
	if m.begins == nil {
		m.begins = make([]int64, x.group.size)
		for i := range m.begins {
			m.begins[i] = -1
		}
	}
	lowest := x.group.lowest()
	if i := rank - lowest; i < len(m.begins) {
		m.begins[i] = begin
	}
	for int(m.came) < len(m.begins) && m.begins[m.came] >= 0 {
		if m.came > 0 {
			m.begins[m.came] = max(m.begins[m.came], m.begins[m.came-1])
		}
		m.came++
	}
}

// needs is when the last of the calls began that a call needs; ok is false if one has not: the track is made ready when it has. On an ideal network,
// sends wait for receives only if they are synchronous.
func (r *replay) needs(of Ref, c *call) (until int64, ok bool) {
	if c.needs&collectiveBit != 0 {
		return r.needsMeeting(c.needs&^collectiveBit, of, c)
	}
	for n := c.needs; n != 0; n = r.edges[n-1].next {
		e := &r.edges[n-1]
		if e.kind == starts {
			continue
		}
		if e.from.Track == inMeeting {
			u, ok := r.needsMeeting(uint32(e.from.Call), of, c)
			if !ok {
				return 0, false
			}
			until = max(until, u)
			continue
		}
		if r.at(e.from).begin > c.end || e.kind == LateReceiver && (r.ideal || e.bytes <= r.eager[r.sameNode(of.Track, e.from.Track)]) {
			continue
		}
		if int(e.from.Call) >= len(r.begins[e.from.Track]) {
			r.waiters[e.from.Track] = append(r.waiters[e.from.Track], waiter{of.Track, e.from.Call})
			return 0, false
		}
		until = max(until, r.begins[e.from.Track][e.from.Call])
	}
	return until, true
}

func (r *replay) needsMeeting(n uint32, of Ref, c *call) (until int64, ok bool) {
	x, m := &r.meetings[n], &r.meets[n]
	on := r.needed(x, of)
	if on == nobody || on == of && x.shape != allForAll || r.at(on).begin > c.end { // it ended before the last one came
		return 0, true
	}
	wanted := int32(x.group.size)
	switch x.shape {
	case fromRoot:
		wanted = 1
	case toRoot:
		wanted--
	case fromLower:
		wanted = int32(r.tracks[of.Track].rank - x.group.lowest())
	}
	if m.came < wanted {
		m.waiters = append(m.waiters, waiter{of.Track, wanted})
		return 0, false
	}
	if x.shape == fromLower {
		return m.begins[wanted-1], true
	}
	return m.last, true
}
