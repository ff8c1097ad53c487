package waits

import "time"

// Wait is a time in which a call waited.
type Wait struct {
	Rank, Thread int
	Kind         Kind
	From, To     time.Duration // since the job's start
	For          int           // the rank that it waited for
	At                         // the call
	On           At            // the call that it waited for
}

// Waits yields all waits, those of a thread after one another.
func (a *Analysis) Waits(yield func(*Wait) bool) {
	p := a.program
	for i := range p.tracks {
		t := &p.tracks[i]
		for k := range t.calls {
			c := &t.calls[k]
			w := p.wait(Ref{int32(i), int32(k)})
			if w.kind == None {
				continue
			}
			x := Wait{Rank: t.rank, Thread: t.thread, Kind: w.kind, From: time.Duration(c.begin), To: time.Duration(w.until), For: p.tracks[w.on.Track].rank,
				At: p.place(p.codeOf[c.site]), On: p.place(p.codeOf[p.at(w.on).site])}
			if !yield(&x) {
				return
			}
		}
	}
}

// Piece is a piece of the critical path.
type Piece struct {
	Rank, Thread int
	From, To     time.Duration // since the job's start
	What         string        // Computing: before the call; InCall
	At
}

// Pieces yields the critical path in the order of time.
func (a *Analysis) Pieces(yield func(*Piece) bool) {
	for _, s := range a.steps {
		t := &a.program.tracks[s.track]
		x := Piece{Rank: t.rank, Thread: t.thread, From: time.Duration(s.from), To: time.Duration(s.to), What: what(s.region), At: a.program.place(s.region.Code)}
		if !yield(&x) {
			return
		}
	}
}
