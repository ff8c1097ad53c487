package waits

import "strings"

// A replay plays the program again: each call begins when the computation before it is done, and ends when what it needs has happened and its own
// time has passed. It does so in several scenarios at once, as these differ in times only. In the first one the network is ideal: calls take no
// time but that in which they wait, unless they read or write files. In each other one, a region takes one tenth less time.

const (
	ideal     = 0
	scenarios = 1 + mostGains
)

// moment is a time by scenario.
type moment [scenarios]int64

func (m *moment) later(other *moment) {
	for i := range m {
		m[i] = max(m[i], other[i])
	}
}

type replay struct {
	*Program
	faster []int8 // by region, as in profiles: the scenario in which it takes less time; 0: none
	files  []bool // by code: its calls read or write files
	copies bool   // no standard send needs its receive, so that only the ideal network is played
	played []played
	meets  []*met     // by meeting; nil: it has not begun, or is over
	spare  [][]moment // of played.begins
	old    []*met
	ready  []int32
}

const (
	playedBits = 8
	playedMask = 1<<playedBits - 1
)

// played is what is known of a track.
type played struct {
	calls   int32 // that have begun
	inside  bool  // the last one has not ended
	begin   moment
	end     moment     // of the last one that has ended
	begins  [][]moment // by block of calls: when they began, as long as others need it
	needed  []int32    // by block: how many edges will still need it
	waiters []waiter   // that need a later call
}

// met is what is known of a collective.
type met struct {
	came, left int32 // calls that have begun and that others wait for, of fromLower those of the lowest ranks; calls that have ended
	last       moment
	waiters    []waiter // for that many calls
	begins     []moment // of fromLower, by rank; until came, the latest of it and of lower ranks
	begun      []bool   // of fromLower, by rank
}

// waiter is a track that needs the call of another one, or so many calls of a collective.
type waiter struct{ track, needs int32 }

// replay returns the run time in all scenarios. faster are regions of all ranks. ok is false if calls need one another in a circle, by wrong
// clocks; copies: see there.
func (p *Program) replay(faster []Region, copies bool) (took moment, ok bool) {
	r := &replay{Program: p, copies: copies, faster: make([]int8, 2*len(p.codes)), files: make([]bool, len(p.codes)), played: make([]played, len(p.tracks)),
		meets: make([]*met, p.meetings.len())}
	for i, region := range faster {
		n := 2 * region.Code
		if region.Compute {
			n++
		}
		r.faster[n] = int8(i + 1)
	}
	for i := range p.codes {
		r.files[i] = strings.HasPrefix(p.codes[i].Function, "MPI_File_")
	}
	r.count()
	left := 0
	for i := range p.tracks {
		t, x := &p.tracks[i], &r.played[i]
		if t.calls.len() > 0 {
			left++
			for s := range x.end {
				x.end[s] = t.start
			}
			r.ready = append(r.ready, int32(i))
		}
	}
	for len(r.ready) > 0 {
		i := r.ready[len(r.ready)-1]
		r.ready = r.ready[:len(r.ready)-1]
		for r.step(i) {
		}
		if !r.played[i].inside {
			left--
		}
	}
	from, _ := p.span()
	for i := range p.tracks {
		if p.tracks[i].calls.len() > 0 {
			for s, end := range r.played[i].end {
				took[s] = max(took[s], end-from)
			}
		}
	}
	return took, left == 0
}

// count counts the edges that need calls of each block.
func (r *replay) count() {
	for i := range r.tracks {
		n := (r.tracks[i].calls.len() + playedMask) >> playedBits
		r.played[i].begins, r.played[i].needed = make([][]moment, n), make([]int32, n)
	}
	for i := range r.tracks {
		for _, block := range r.tracks[i].edges.blocks {
			for k := range block {
				if from := block[k].from; from.Track >= 0 {
					r.played[from.Track].needed[from.Call>>playedBits]++
				}
			}
		}
	}
}

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
	t, x := &r.tracks[i], &r.played[i]
	k := x.calls
	if x.inside {
		k--
	}
	if k == t.calls.len() {
		return false
	}
	c := t.calls.at(k)
	of := Ref{i, k}
	code := r.codeOf[c.site]
	if !x.inside {
		x.begin = x.end
		r.pass(&x.begin, c.begin-t.before(k), 2*code+1)
		x.calls, x.inside = k+1, true
		r.begin(of, t, c)
	}
	var until moment
	if c.needs != 0 && !r.needs(of, t, c, &until) {
		return false
	}
	w := r.wait(of)
	own := w.own(c)
	x.end = x.begin
	x.end.later(&until)
	before := x.end[ideal]
	r.pass(&x.end, own, 2*code)
	if !r.files[code] {
		x.end[ideal] = before
	}
	x.inside = false
	return true
}

// pass adds the time that a region takes.
func (r *replay) pass(at *moment, d int64, region uint32) {
	for s := range at {
		at[s] += d
	}
	if s := r.faster[region]; s > 0 {
		at[s] -= d / 10
	}
}

// begin notes that a track's call has begun, which others may need.
func (r *replay) begin(of Ref, t *track, c *call) {
	x := &r.played[of.Track]
	if block := of.Call >> playedBits; x.needed[block] > 0 {
		if x.begins[block] == nil {
			x.begins[block] = r.block()
		}
		x.begins[block][of.Call&playedMask] = x.begin
	}
	if c.collective() {
		r.meet(c.number(), of)
	}
	for n := c.first(); n != 0; {
		e := t.edges.at(int32(n - 1))
		n = e.next
		if e.kind == starts {
			r.meet(uint32(e.from.Call), of)
		}
	}
	if len(x.waiters) > 0 {
		x.waiters = r.wake(x.waiters, of.Call)
	}
}

func (r *replay) block() (b []moment) {
	if n := len(r.spare); n > 0 {
		b, r.spare = r.spare[n-1], r.spare[:n-1]
		return b
	}
	return make([]moment, playedMask+1)
}

// used notes that one edge less needs a call.
func (r *replay) used(from Ref) {
	x, block := &r.played[from.Track], from.Call>>playedBits
	x.needed[block]--
	if x.needed[block] == 0 {
		r.spare = append(r.spare, x.begins[block])
		x.begins[block] = nil
	}
}

// meet notes that a call of a collective has begun.
func (r *replay) meet(n uint32, of Ref) {
	x := r.meetings.at(int32(n))
	rank, begin := r.tracks[of.Track].rank, &r.played[of.Track].begin
	root := rank == int(x.root)
	if x.shape == 0 || x.shape == fromRoot && !root || x.shape == toRoot && root {
		return
	}
	m := r.met(n)
	if x.shape == fromLower {
		r.scan(x, m, rank, begin)
	} else {
		m.came++
		m.last.later(begin)
	}
	if len(m.waiters) > 0 {
		m.waiters = r.wake(m.waiters, m.came)
	}
}

// met is what is known of a collective.
func (r *replay) met(n uint32) *met {
	m := r.meets[n]
	if m != nil {
		return m
	}
	if k := len(r.old); k > 0 {
		m, r.old = r.old[k-1], r.old[:k-1]
		*m = met{waiters: m.waiters[:0]}
	} else {
		m = new(met)
	}
	r.meets[n] = m
	return m
}

// leave notes that a call of a collective has ended.
func (r *replay) leave(n uint32) {
	x := r.meetings.at(int32(n))
	if x.shape == 0 {
		return
	}
	m := r.met(n)
	if m.left++; m.left == x.needs {
		r.old = append(r.old, m)
		r.meets[n] = nil
	}
}

// scan notes the same in a scan.
func (r *replay) scan(x *meeting, m *met, rank int, begin *moment) {
	if m.begins == nil {
		m.begins, m.begun = make([]moment, x.group.size), make([]bool, x.group.size)
	}
	if n, ok := x.group.find(rank); ok {
		i := x.group.place[n]
		m.begins[i], m.begun[i] = *begin, true
	}
	for int(m.came) < len(m.begins) && m.begun[m.came] {
		if m.came > 0 {
			m.begins[m.came].later(&m.begins[m.came-1])
		}
		m.came++
	}
}

// needs finds when the last of the calls began that a call needs. It returns false if one has not: the track is made ready when it has. On an ideal
// network, sends wait for receives only if they are synchronous.
func (r *replay) needs(of Ref, t *track, c *call, until *moment) bool {
	if c.collective() {
		n := c.number()
		if !r.needsMeeting(n, of, c, until) {
			return false
		}
		r.leave(n)
		return true
	}
	for n := c.first(); n != 0; {
		e := t.edges.at(int32(n - 1))
		n = e.next
		switch {
		case e.kind == starts:
		case e.from.Track == inMeeting:
			if !r.needsMeeting(uint32(e.from.Call), of, c, until) {
				return false
			}
		case r.copies && e.kind.ofReceiver():
		case e.from.Call >= r.played[e.from.Track].calls:
			r.played[e.from.Track].waiters = append(r.played[e.from.Track].waiters, waiter{of.Track, e.from.Call})
			return false
		case !r.copied(of, e):
			begin := r.played[e.from.Track].begins[e.from.Call>>playedBits][e.from.Call&playedMask]
			if e.kind.ofReceiver() {
				begin[ideal] = 0
			}
			until.later(&begin)
		}
	}
	for n := c.first(); n != 0; { // all have happened
		e := t.edges.at(int32(n - 1))
		n = e.next
		switch {
		case e.kind == starts:
		case e.from.Track == inMeeting:
			r.leave(uint32(e.from.Call))
		case !r.copies:
			r.used(e.from)
		}
	}
	return true
}

func (r *replay) needsMeeting(n uint32, of Ref, c *call, until *moment) bool {
	x := r.meetings.at(int32(n))
	on := r.needed(x, of)
	if on == nobody || on == of && x.shape != allForAll || r.at(on).begin > c.end { // it ended before the last one came
		return true
	}
	wanted := int32(x.group.size)
	switch x.shape {
	case fromRoot:
		wanted = 1
	case toRoot:
		wanted--
	case fromLower:
		m, _ := x.group.find(r.tracks[of.Track].rank)
		wanted = x.group.place[m]
	}
	m := r.met(n)
	if m.came < wanted {
		m.waiters = append(m.waiters, waiter{of.Track, wanted})
		return false
	}
	if x.shape == fromLower {
		until.later(&m.begins[wanted-1])
	} else {
		until.later(&m.last)
	}
	return true
}
