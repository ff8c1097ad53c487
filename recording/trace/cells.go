package trace

import (
	"time"
)

// Cell is what a track does in a part of a window.
type Cell struct {
	Calls   uint64        // that overlap it
	Busy    time.Duration // in calls
	Shares  []Share       // the function with the most time first
	Longest CallID        // the call that takes the most of it
	Begin   time.Duration // of that call
	End     time.Duration
	Lost    uint64        // events that were lost in it, or in a longer time that it is a part of
	Skipped time.Duration // the part that was not read

	most time.Duration
}

// Window divides a time into columns.
type Window struct {
	From, To time.Duration
	Columns  int
}

// Edge is when a column begins.
func (w Window) Edge(column int) time.Duration {
	span, n := uint64(w.To-w.From), uint64(w.Columns)
	c := uint64(column)
	return w.From + time.Duration(span/n*c+span%n*c/n)
}

// Column is the column of a time within the window.
func (w Window) Column(at time.Duration) int {
	c := int(float64(at-w.From) / float64(w.To-w.From) * float64(w.Columns))
	c = max(min(c, w.Columns-1), 0)
	for c > 0 && at < w.Edge(c) {
		c--
	}
	for c < w.Columns-1 && at >= w.Edge(c+1) {
		c++
	}
	return c
}

// Cells reads a window of a track. whole is false if the time until a deadline was too short to read all blocks: Cell.Skipped says where.
func (x *Index) Cells(t *Track, w Window, until time.Time) (cells []Cell, whole bool) {
	cells = make([]Cell, w.Columns)
	if w.To <= w.From || len(t.blocks) == 0 {
		return cells, true
	}
	first := t.find(w.From)
	after := first
	for after < len(t.blocks) && t.blocks[after].First < w.To {
		after++
	}
	whole = x.fillWithin(t, w, first, after, until)
	before := t.blocks[first].First // the end of the last event
	done := false
	for i := first; i < len(t.blocks) && !(done && i >= after); i++ {
		b := t.blocks[i]
		if s := b.summary; s != nil && s.from >= w.From && s.to < w.To && w.Column(s.from) == w.Column(s.to) && before >= w.Edge(w.Column(s.from)) {
			cells[w.Column(s.from)].addSummary(t, s)
			before = s.to
			continue
		} else if s == nil && !whole && i > first && i+1 < after && w.Column(b.First) == w.Column(t.blocks[i+1].First) {
			cells[w.Column(b.First)].Skipped += t.blocks[i+1].First - b.First
			before = t.blocks[i+1].First
			continue
		}
		x.scan(t, i, func(e *item) bool {
			switch {
			case e.lost > 0:
				e.begin = min(e.begin, before) // a block does not know when the one before it ends
				addLost(cells, w, e)
			case e.kind == kindCall:
				addCall(cells, w, t, b.Sequence, e)
				done = done || e.depth == 0 && e.time >= w.To
			}
			before = e.time
			return !done
		})
	}
	for c := range cells {
		sortShares(cells[c].Shares)
	}
	return cells, whole
}

// fillWithin makes the summaries of the blocks that lie within a cell, those of a sample first.
func (x *Index) fillWithin(t *Track, w Window, first, after int, until time.Time) bool {
	var missing []int
	for i := first + 1; i+1 < after; i++ {
		if b := t.blocks[i]; b.summary == nil && w.Column(b.First) == w.Column(t.blocks[i+1].First) {
			missing = append(missing, i)
		}
	}
	for n, k := range spread(len(missing)) {
		if x.summaries >= maxSummaries || n%16 == 0 && !time.Now().Before(until) {
			return false
		}
		x.summarize(t, missing[k])
	}
	return true
}

func (c *Cell) addSummary(t *Track, s *summary) {
	for _, share := range s.shares {
		add(&c.Shares, share.Function, share.Calls, share.Time)
		c.Calls += share.Calls
		c.Busy += share.Time
	}
	c.Lost += s.lost
	if took := s.longest.end - s.longest.begin; s.longest.block != 0 && (c.Longest.Track == nil || took > c.most) {
		c.longest(t, s.longest.block, s.longest.ordinal, s.longest.begin, s.longest.end, took)
	}
}

func (c *Cell) longest(t *Track, block uint64, ordinal uint32, begin, end, took time.Duration) {
	c.Longest, c.Begin, c.End, c.most = CallID{t, block, ordinal}, begin, end, took
}

// addCall adds a call to the cells that it overlaps.
func addCall(cells []Cell, w Window, t *Track, block uint64, e *item) {
	if e.time < w.From || e.begin >= w.To {
		return
	}
	first, last := w.Column(max(e.begin, w.From)), w.Column(min(e.time, w.To-1))
	for k := first; k <= last; k++ {
		c := &cells[k]
		took := min(e.time, w.Edge(k+1)) - max(e.begin, w.Edge(k))
		if k == last && k > first && took == 0 { // it ends where the cell begins
			break
		}
		weight := took
		if e.depth > 0 {
			took, weight = 0, -1
		}
		add(&c.Shares, e.function, 1, took)
		c.Calls++
		c.Busy += took
		if c.Longest.Track == nil || weight > c.most {
			c.longest(t, block, e.ordinal, e.begin, e.time, weight)
		}
	}
}

// addLost marks the cells in which events were lost.
func addLost(cells []Cell, w Window, e *item) {
	if e.time < w.From || e.begin >= w.To {
		return
	}
	for k := w.Column(max(e.begin, w.From)); k <= w.Column(min(e.time, w.To-1)); k++ {
		cells[k].Lost += e.lost
	}
}
