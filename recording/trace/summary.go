package trace

import (
	"cmp"
	"slices"
	"time"
)

// maxPhaseMarks bounds the phases of a block that are kept.
const maxPhaseMarks = 256

// Share is the part of a function in the calls of a time.
type Share struct {
	Function int32 // see [Index.Functions]
	Calls    uint64
	Time     time.Duration // without calls that are nested in others
}

// span is a call of a block.
type span struct {
	block      uint64
	ordinal    uint32
	begin, end time.Duration
}

// summary is what a block holds.
type summary struct {
	from, to time.Duration // from the first beginning of a call to the last end
	shares   []Share
	longest  span
	lost     uint64
	thread   int
	phases   []phaseMark
	last     time.Duration // the end of the last call that is not nested
}

// phaseMark is the beginning or end of a phase.
type phaseMark struct {
	at       time.Duration
	function int32 // -1: the end
}

// summarize reads a block.
func (x *Index) summarize(t *Track, index int) *summary {
	b := t.blocks[index]
	if b.summary != nil {
		return b.summary
	}
	s := &summary{from: 1<<63 - 1, to: -1 << 62, last: -1 << 62}
	x.scan(t, index, func(i *item) bool {
		s.thread = i.thread
		s.to = max(s.to, i.time)
		switch {
		case i.lost > 0:
			s.lost += i.lost
			s.from = min(s.from, i.begin)
		case i.kind == kindCall:
			s.from = min(s.from, i.begin)
			took := i.time - i.begin
			if i.depth > 0 {
				took = 0
			} else {
				s.last = max(s.last, i.time)
			}
			add(&s.shares, i.function, 1, took)
			if s.longest.block == 0 || took > s.longest.end-s.longest.begin {
				s.longest = span{b.Sequence, i.ordinal, i.begin, i.time}
			}
		case i.kind == kindPhase && len(s.phases) < maxPhaseMarks:
			s.phases = append(s.phases, phaseMark{i.time, i.function})
			s.from = min(s.from, i.time)
		}
		return true
	})
	s.from = min(s.from, s.to)
	s.shares = slices.Clip(s.shares)
	if x.summaries < maxSummaries {
		x.summaries++
		b.summary = s
	}
	return s
}

func add(shares *[]Share, function int32, calls uint64, took time.Duration) {
	for i := range *shares {
		if s := &(*shares)[i]; s.Function == function {
			s.Calls += calls
			s.Time += took
			return
		}
	}
	*shares = append(*shares, Share{function, calls, took})
}

func sortShares(shares []Share) {
	slices.SortFunc(shares, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Function, b.Function))
	})
}

// Fill makes summaries until a deadline. It returns the part of all blocks that has one; 1: all, or as many as are kept.
func (x *Index) Fill(until time.Time) float64 {
	done, all := 0, 0
	for _, t := range x.Tracks {
		for t.filled < len(t.order) && x.summaries < maxSummaries && time.Now().Before(until) {
			x.summarize(t, int(t.order[t.filled]))
			t.filled++
		}
		done += t.filled
		all += len(t.order)
	}
	if all == 0 || x.summaries >= maxSummaries {
		return 1
	}
	return float64(done) / float64(all)
}

// Span is when the first call of all tracks begins, and when the last one ends.
func (x *Index) Span() (from, to time.Duration) {
	from = 1<<63 - 1
	for _, t := range x.Tracks {
		first, last := x.summarize(t, 0), x.summarize(t, len(t.blocks)-1)
		from, to = min(from, first.from), max(to, last.to, first.to)
	}
	return min(from, to), to
}

// Phases are the innermost phase of a track in each column of a window, as far as blocks have a summary.
func (x *Index) Phases(t *Track, w Window) []string {
	names := make([]string, w.Columns)
	x.replay(t, w.To, func(stack []int32, from, to time.Duration) {
		if len(stack) == 0 || to <= w.From || to == from {
			return
		}
		for c := w.Column(max(from, w.From)); c < w.Columns && w.Edge(c) < to; c++ {
			names[c] = x.functions[stack[len(stack)-1]]
		}
	})
	return names
}

// PhasesAt are the phases of a track that have begun until a time and not ended, as far as blocks have a summary.
func (x *Index) PhasesAt(t *Track, at time.Duration) (names []string) {
	x.replay(t, at+1, func(stack []int32, _, to time.Duration) {
		if to == at+1 {
			for _, f := range stack {
				names = append(names, x.functions[f])
			}
		}
	})
	return names
}

// replay yields the phases until a time, outermost first, with when they were the same.
func (x *Index) replay(t *Track, until time.Duration, yield func(stack []int32, from, to time.Duration)) {
	var stack []int32
	from := time.Duration(-1 << 62)
	for _, b := range t.blocks {
		if b.summary == nil {
			continue
		}
		for _, m := range b.summary.phases {
			if m.at >= until {
				yield(stack, from, until)
				return
			}
			yield(stack, from, m.at)
			from = m.at
			switch {
			case m.function >= 0:
				stack = append(stack, m.function)
			case len(stack) > 0:
				stack = stack[:len(stack)-1]
			}
		}
	}
	yield(stack, from, until)
}

// End is the end of a track's last event.
func (x *Index) End(t *Track) time.Duration { return x.summarize(t, len(t.blocks)-1).to }

// Begin is the beginning of a track's first event.
func (x *Index) Begin(t *Track) time.Duration { return x.summarize(t, 0).from }
