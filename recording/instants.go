package recording

import (
	"container/heap"
	"math"
	"time"

	"mpitx/recording/store"
)

// Instant is one sample of a set of variables of one rank. It is valid until the next one is yielded.
type Instant struct {
	Time  time.Duration // since the job's start
	Rank  *Rank
	Set   *Set
	Cells []Cell
	Last  bool // the set's last values, kept apart because earlier samples were dropped

	resumed bool // samples of the set that During excludes precede it
}

// Cell is one element of one variable.
type Cell struct {
	Column  *Column
	Element int // within the column, from 0: the array index is Column.First+Element
	Value   Value
	Status  Status

	covers time.Duration // Rate: the time since the previous sample
}

// Options choose the part of a run to read and the form of its values.
type Options struct {
	As       Transform        // Default: each column's own transform
	From, To time.Duration    // only this part, if To > From
	Rank     func(*Rank) bool // only these ranks; nil: all

	// During restricts samples to a part of each rank's time; nil: all. Differences and rates of a sample are those since the sample
	// before, whether that is in this part or not.
	During func(*Rank, time.Duration) bool

	Column   func(*Column) bool       // only these columns; nil: all
	Table    func(*Table) bool        // only the rows of these tables; nil: all
	ByThread bool                     // do not merge the rows of several threads
	Bodies   bool                     // give the bodies of events instead of their values, which is faster
	Readers  int                      // so many such functions run at once: they share the buffers
	Progress func(done, total uint64) // called now and then with the number of samples read; may be nil
}

// Instants yields the run's samples of all ranks in time order. Memory is bounded: about 16 MiB of buffers for any number
// of ranks (at least 4 KiB each), plus 24 bytes for each element shown as a difference or a rate. Damaged parts are skipped;
// Damage lists them afterwards.
func (run *Run) Instants(o Options) func(yield func(*Instant) bool) {
	return func(yield func(*Instant) bool) {
		m := newMerge(run, o)
		m.start()
		m.each(yield)
	}
}

// merge yields the samples of several ranks in time order.
type merge struct {
	run     *Run
	options Options
	cursors []*cursor  // of all ranks
	heap    cursorHeap // of those with a sample that was not yielded yet
	shown   map[*Set]*shown
	instant Instant
	done    uint64
}

func newMerge(run *Run, o Options) *merge {
	m := &merge{run: run, options: o, shown: map[*Set]*shown{}}
	for _, r := range run.Ranks {
		m.add(r)
	}
	return m
}

func (m *merge) add(r *Rank) {
	if m.options.Rank != nil && !m.options.Rank(r) {
		return
	}
	m.cursors = append(m.cursors, &cursor{
		run: m.run, rank: r, time: math.MinInt64, records: records{chunks: m.run.store.Cursor(r.process, store.Chain{Kind: store.KindSamples})},
	})
}

// start reads a first sample of each rank. If yield stopped an earlier each, its remaining samples come first.
func (m *merge) start() {
	size := max(min(readBudget/max(len(m.cursors), 1), 1<<18), 4096)
	for _, c := range m.cursors {
		if c.waiting {
			continue
		}
		if c.chunks.Size = size; c.next() {
			c.waiting = true
			m.heap = append(m.heap, c)
		}
	}
	heap.Init(&m.heap)
}

// step moves past the first sample.
func (m *merge) step() {
	c := m.heap[0]
	if c.next() {
		heap.Fix(&m.heap, 0)
	} else {
		c.waiting = false
		heap.Pop(&m.heap)
	}
}

// each yields all samples that are available. It returns false if yield stopped it.
func (m *merge) each(yield func(*Instant) bool) bool {
	limited := m.options.To > m.options.From
	for len(m.heap) > 0 {
		c := m.heap[0]
		if limited && c.time >= m.options.To {
			return true
		}
		within := m.options.During == nil || m.options.During(c.rank, c.time)
		if cells, resumed := m.cells(c, within); within && len(cells) > 0 && (!limited || c.time >= m.options.From) {
			m.instant = Instant{c.time, c.rank, c.rec.set, cells, c.rec.last, resumed}
			if !yield(&m.instant) {
				m.step()
				return false
			}
		}
		if m.done++; m.options.Progress != nil && m.done%4096 == 0 {
			m.options.Progress(m.done, m.run.total())
		}
		m.step()
	}
	return true
}

// total is the number of samples that the ranks counted.
func (run *Run) total() uint64 {
	var n uint64
	for _, r := range run.Ranks {
		n += r.Counters.Samples
	}
	return n
}

// cells returns the record's values in the form asked for, and whether samples that are not shown precede them.
func (m *merge) cells(c *cursor, within bool) (cells []Cell, resumed bool) {
	s := m.shown[c.rec.set]
	if s == nil {
		s = newShown(c.rec.set, c.rank, &m.options)
		m.shown[c.rec.set] = s
	}
	resumed, s.without = s.without, !within
	return s.show(&c.rec), resumed
}

// cursorHeap orders cursors by time; at equal times by rank.
type cursorHeap []*cursor

func (h cursorHeap) Len() int { return len(h) }
func (h cursorHeap) Less(i, j int) bool {
	if h[i].time != h[j].time {
		return h[i].time < h[j].time
	}
	return h[i].rank.Rank < h[j].rank.Rank
}
func (h cursorHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cursorHeap) Push(x any)   { *h = append(*h, x.(*cursor)) }
func (h *cursorHeap) Pop() any {
	old := *h
	c := old[len(old)-1]
	*h = old[:len(old)-1]
	return c
}
