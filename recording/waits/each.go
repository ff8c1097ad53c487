package waits

import (
	"cmp"
	"slices"
	"time"
)

// Wait is a time in which a call waited.
type Wait struct {
	Rank, Thread  int
	Kind          Kind
	From, To      time.Duration // since the job's start
	For, OnThread int           // the rank and thread that it waited for
	At                          // the call
	Object        string        // its communicator, window or file; "": none
	On            At            // the call that it waited for, which began at To
}

// Waits yields all waits, those of a thread after one another.
func (a *Analysis) Waits(yield func(*Wait) bool) {
	for i := range a.program.tracks {
		if !a.between(i, 0, a.program.tracks[i].calls.len(), yield) {
			return
		}
	}
}

// OfRank yields the waits of a rank, those of a thread after one another.
func (a *Analysis) OfRank(rank int, yield func(*Wait) bool) {
	for i := range a.program.tracks {
		if t := &a.program.tracks[i]; t.rank == rank && !a.between(i, 0, t.calls.len(), yield) {
			return
		}
	}
}

// between yields the waits of some calls of a track. It returns false if yield did.
func (a *Analysis) between(track int, first, after int32, yield func(*Wait) bool) bool {
	p := a.program
	t := &p.tracks[track]
	for k := first; k < after; k++ {
		c := t.calls.at(k)
		w := p.wait(Ref{int32(track), k})
		if w.kind == None {
			continue
		}
		on := &p.tracks[w.on.Track]
		x := Wait{Rank: t.rank, Thread: t.thread, Kind: w.kind, From: time.Duration(c.begin), To: time.Duration(w.until), For: on.rank, OnThread: on.thread,
			At: p.place(p.codeOf[c.site]), Object: p.sites[c.site].Object, On: p.place(p.codeOf[p.at(w.on).site])}
		if !yield(&x) {
			return false
		}
	}
	return true
}

// Span is when the first thread begins and the last one ends, since the job's start.
func (a *Analysis) Span() (from, to time.Duration) {
	begin, end := a.program.span()
	return time.Duration(begin), time.Duration(end)
}

// RankNumbers are the ranks with calls, ascending.
func (a *Analysis) RankNumbers() (all []int) {
	for i := range a.program.tracks {
		if t := &a.program.tracks[i]; t.calls.len() > 0 {
			all = append(all, t.rank)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Thread is the number of a thread of a rank, for Between; -1: it has no calls.
func (a *Analysis) Thread(rank, thread int) int {
	return slices.IndexFunc(a.program.tracks, func(t track) bool { return t.rank == rank && t.thread == thread })
}

// Of is the rank and the operating system's number of a thread of Thread; of -1, nobody's.
func (a *Analysis) Of(thread int) [2]int {
	if thread < 0 {
		return [2]int{-1, -1}
	}
	t := &a.program.tracks[thread]
	return [2]int{t.rank, t.thread}
}

// Between yields the waits of a thread in the calls that overlap a time.
func (a *Analysis) Between(thread int, from, to time.Duration, yield func(*Wait) bool) {
	if thread < 0 {
		return
	}
	calls := &a.program.tracks[thread].calls
	first := calls.search(func(c *call) bool { return c.end < int64(from) })
	after := calls.search(func(c *call) bool { return c.begin <= int64(to) })
	a.between(thread, first, after, yield)
}

// Piece is a piece of the critical path.
type Piece struct {
	Rank, Thread int
	From, To     time.Duration // since the job's start
	What         string        // Computing: before the call; InCall
	At
}

func (a *Analysis) piece(s *step) Piece {
	t := &a.program.tracks[s.track]
	return Piece{Rank: t.rank, Thread: t.thread, From: time.Duration(s.from), To: time.Duration(s.to), What: what(s.region), At: a.program.place(s.region.Code)}
}

// Pieces yields the critical path in the order of time.
func (a *Analysis) Pieces(yield func(*Piece) bool) {
	for i := range a.steps {
		if x := a.piece(&a.steps[i]); !yield(&x) {
			return
		}
	}
}

// PiecesBetween yields the pieces of the critical path that overlap a time.
func (a *Analysis) PiecesBetween(from, to time.Duration, yield func(*Piece) bool) {
	for i := a.stepAt(from); i < len(a.steps) && time.Duration(a.steps[i].from) <= to; i++ {
		if x := a.piece(&a.steps[i]); !yield(&x) {
			return
		}
	}
}

// stepAt is the number of the first piece that ends after a time.
func (a *Analysis) stepAt(at time.Duration) int {
	i, _ := slices.BinarySearchFunc(a.steps, int64(at)+1, func(s step, at int64) int { return cmp.Compare(s.to, at) })
	return i
}

// NextPiece is the piece of the critical path on another thread than the one at a time: the next one, or with by -1 the one before.
func (a *Analysis) NextPiece(at time.Duration, by int) (x Piece, ok bool) {
	i := a.stepAt(at)
	if i >= len(a.steps) {
		i = len(a.steps) - 1
	}
	if i < 0 {
		return x, false
	}
	track := a.steps[i].track
	for k := i + by; k >= 0 && k < len(a.steps); k += by {
		if a.steps[k].track == track {
			continue
		}
		for by < 0 && k > 0 && a.steps[k-1].track == a.steps[k].track { // where that thread's turn begins
			k--
		}
		return a.piece(&a.steps[k]), true
	}
	return x, false
}
