package waits

import "slices"

// step is a piece of the critical path: what one thread did without waiting.
type step struct {
	track    int32
	from, to int64
	region   Region
}

// path follows the critical path from the end of the program to its start, and gives its pieces in the order of time. They follow one another
// without gaps: where a call waited, the path leads on to the call that it waited for.
func (p *Program) path() (steps []step) {
	from, to := p.span()
	track := int32(-1)
	for i := range p.tracks {
		if t := &p.tracks[i]; t.calls.len() > 0 && t.end() == to && (track < 0 || p.precedes(int32(i), track)) {
			track = int32(i)
		}
	}
	if track < 0 {
		return nil
	}
	add := func(from, to int64, code uint32, compute bool) {
		if from < to {
			steps = append(steps, step{track, from, to, Region{code, p.tracks[track].rank, compute}})
		}
	}
	at := to
	k := p.tracks[track].calls.len() - 1
	for k >= 0 {
		t := &p.tracks[track]
		c := t.calls.at(k)
		code := p.codeOf[c.site]
		of := Ref{track, k}
		if w := p.wait(of); w.kind != None && w.until <= at {
			add(w.until, at, code, false)
			at, track, k = w.until, w.on.Track, w.on.Call
			t = &p.tracks[track]
			code = p.codeOf[t.calls.at(k).site]
		} else {
			add(c.begin, at, code, false)
			at = c.begin
		}
		before := t.before(k)
		add(before, at, code, true)
		at = before
		k--
	}
	if t := &p.tracks[track]; at > from { // it left MPI_Init later than others
		region := p.beginning(t)
		add(from, at, uint32(region/2), region%2 == 1)
	}
	slices.Reverse(steps)
	return steps
}
