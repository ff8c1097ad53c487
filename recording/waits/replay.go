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
		meets: make([]met, len(p.meetings)), blocked: map[event][]int32{}}
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
	blocked map[event][]int32 // tracks that need an event
	ready   []int32
}

// met is how many calls of a collective have begun that others wait for, and when the last one has.
type met struct {
	came int32
	last int64
}

// event is what a track waits for: the beginning of a call of another one, or, with track -1, of the last call of a collective.
type event Ref

func (r *replay) happened(e event) {
	if all := r.blocked[e]; all != nil {
		r.ready = append(r.ready, all...)
		delete(r.blocked, e)
	}
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
		if c.needs&collectiveBit != 0 {
			r.meet(c.needs&^collectiveBit, of)
		}
		r.happened(event{i, k})
	}
	until, missing, ok := r.needs(of, c)
	if !ok {
		r.blocked[missing] = append(r.blocked[missing], i)
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

// meet notes that a call of a collective has begun.
func (r *replay) meet(n uint32, of Ref) {
	x, m := &r.meetings[n], &r.meets[n]
	rank := r.tracks[of.Track].rank
	wanted := int32(x.group.size)
	switch root := rank == int(x.root); {
	case x.shape == fromRoot && !root, x.shape == toRoot && root:
		return
	case x.shape == fromRoot:
		wanted = 1
	case x.shape == toRoot:
		wanted--
	}
	m.came, m.last = m.came+1, max(m.last, r.begins[of.Track][of.Call])
	if m.came == wanted {
		r.happened(event{-1, int32(n)})
	}
}

// needs is when the last of the calls began that a call needs; ok is false if one has not. On an ideal network, sends wait for receives only if they
// are synchronous.
func (r *replay) needs(of Ref, c *call) (until int64, missing event, ok bool) {
	if c.needs&collectiveBit != 0 {
		return r.needsMeeting(c.needs&^collectiveBit, of, c)
	}
	for n := c.needs; n != 0; n = r.edges[n-1].next {
		e := &r.edges[n-1]
		if r.at(e.from).begin > c.end || e.kind == LateReceiver && (r.ideal || e.bytes <= r.eager[r.sameNode(of.Track, e.from.Track)]) {
			continue
		}
		if int(e.from.Call) >= len(r.begins[e.from.Track]) {
			return 0, event(e.from), false
		}
		until = max(until, r.begins[e.from.Track][e.from.Call])
	}
	return until, event{}, true
}

func (r *replay) needsMeeting(n uint32, of Ref, c *call) (until int64, missing event, ok bool) {
	x, m := &r.meetings[n], &r.meets[n]
	on := r.needed(x, of)
	if on == nobody || on == of && x.shape != allForAll || r.at(on).begin > c.end { // it ended before the last one came
		return 0, event{}, true
	}
	wanted := int32(x.group.size)
	switch x.shape {
	case fromRoot:
		wanted = 1
	case toRoot:
		wanted--
	case fromLower:
		for k, other := range x.calls {
			if x.group.ranks[k] >= r.tracks[of.Track].rank || r.at(other).begin > c.end {
				continue
			}
			if int(other.Call) >= len(r.begins[other.Track]) {
				return 0, event(other), false
			}
			until = max(until, r.begins[other.Track][other.Call])
		}
		return until, event{}, true
	}
	if m.came < wanted {
		return 0, event{-1, int32(n)}, false
	}
	return m.last, event{}, true
}
