// Package top is the screen of `mpitx top`: the samples of a run's ranks as they are recorded. A [Feed] reads the run directory and keeps the
// latest samples in bounded memory. A [Frame] is the state of a feed at one time. The model draws frames.
package top

import (
	"math"
	"slices"
	"sync"
	"time"

	"mpitx/recording"
)

const (
	tailBytes = 64 << 20        // of a running job's samples that are read at the start
	silence   = 5 * time.Second // without samples, after which a running rank is called silent
	slice     = 50 * time.Millisecond
)

// Feed reads a run as it grows. It may be used concurrently.
type Feed struct {
	mu       sync.Mutex
	run      *recording.Run
	follow   *recording.Follower
	line     timeline
	ranks    []*rank
	known    map[*recording.Rank]*rank
	sets     map[*recording.Set]*set
	cells    map[Key][]*cell
	keys     []Key // in order of appearance
	count    int   // cells
	samples  uint64
	now      time.Duration // the newest sample's time
	over     bool          // all ranks have ended
	profiler profiler
	behind   bool  // more can be read at once
	broken   error // why the directory could not be read the last time
	clock    func() time.Time
}

type rank struct {
	*recording.Rank
	heard time.Time     // when its last sample was read
	last  time.Duration // that sample's time
	any   bool
	cells map[Key]*cell
}

type set struct {
	rank    *rank
	columns []*column
	last    time.Duration // of its samples
	step    time.Duration // between the last two
}

// bridge is how many bins may lie between two samples without being a gap.
func (s *set) bridge(l *timeline) int { return 1 + int(3*max(s.step, s.rank.Interval)/l.width) }

// Open starts to read a run. Close the feed in the end.
func Open(run *recording.Run) *Feed {
	f := &Feed{run: run, known: map[*recording.Rank]*rank{}, sets: map[*recording.Set]*set{}, cells: map[Key][]*cell{}, clock: time.Now}
	f.line = timeline{width: binOfLive, bins: mostBins, whole: !run.Running(), last: -1}
	o := recording.Options{As: recording.Raw}
	if f.line.whole {
		f.line.width = time.Millisecond
		f.follow = run.Follow(o)
	} else {
		f.follow = run.FollowLast(o, max(tailBytes/65536/max(len(run.Ranks), 1), 2))
	}
	f.join()
	return f
}

// Close closes the run.
func (f *Feed) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run.Close()
}

// Poll reads new samples, for a short time only. It reports whether there are more.
func (f *Feed) Poll() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	start := time.Now()
	n := 0
	f.behind = false
	wall := f.clock()
	f.broken = f.follow.Poll(func(in *recording.Instant) bool {
		f.take(in, wall)
		if n++; n%256 == 0 && time.Since(start) > slice {
			f.behind = true
		}
		return !f.behind
	})
	f.join()
	if f.profiler.wanted {
		f.readProfile()
	}
	return f.behind
}

func (f *Feed) join() {
	for _, r := range f.run.Ranks {
		if f.known[r] == nil {
			k := &rank{Rank: r, heard: f.clock(), cells: map[Key]*cell{}}
			f.known[r] = k
			f.ranks = append(f.ranks, k)
		}
	}
	slices.SortStableFunc(f.ranks, func(a, b *rank) int { return a.Rank.Rank - b.Rank.Rank })
}

func (f *Feed) take(in *recording.Instant, wall time.Time) {
	s := f.sets[in.Set]
	if s == nil {
		if f.known[in.Rank] == nil {
			f.join()
		}
		s = f.newSet(in)
	}
	t := max(in.Time, 0)
	f.reach(t)
	b, bridge := f.line.bin(t), s.bridge(&f.line)
	for _, k := range s.columns {
		k.cell.before(&f.line, b, bridge)
	}
	s.take(in.Cells)
	for _, k := range s.columns {
		k.cell.after(&f.line, b, bridge, t)
	}
	if f.samples++; s.last > 0 {
		s.step = t - s.last
	}
	s.last = t
	f.now = max(f.now, t)
	s.rank.heard, s.rank.last, s.rank.any = wall, t, true
}

func (s *set) take(cells []recording.Cell) {
	at := 0
	for _, k := range s.columns {
		if at+k.numbers > len(cells) {
			return
		}
		k.take(cells[at : at+k.numbers])
		at += k.numbers
	}
}

func (f *Feed) newSet(in *recording.Instant) *set {
	s := &set{rank: f.known[in.Rank]}
	f.sets[in.Set] = s
	for _, c := range in.Set.Columns {
		key := Key{Variable: c.Variable, Class: c.Class, Object: c.ObjectName}
		to := s.rank.cells[key]
		if to == nil {
			if f.cells[key] == nil {
				f.keys = append(f.keys, key)
			}
			to = f.newCell(key, s.rank, combineOf(c))
		}
		k := newColumn(c, to)
		to.columns = append(to.columns, k)
		s.columns = append(s.columns, k)
	}
	if first := in.Set.First(in.Rank); first != nil {
		s.take(first)
	}
	return s
}

func (f *Feed) newCell(key Key, r *rank, how combine) *cell {
	c := &cell{rank: r, how: how, closed: -1, history: history{last: -1}}
	r.cells[key] = c
	f.cells[key] = append(f.cells[key], c)
	f.count++
	f.fit()
	return c
}

// fit shortens the histories if all together would take too much memory.
func (f *Feed) fit() {
	for f.line.bins > leastBins && f.count*f.line.bins*8 > historyBytes {
		f.line.bins /= 2
		for f.line.whole && f.line.last >= f.line.bins {
			f.widen()
		}
	}
}

func (f *Feed) reach(t time.Duration) {
	for f.line.whole && f.line.bin(t) >= f.line.bins {
		f.widen()
	}
	f.line.last = max(f.line.last, f.line.bin(t))
}

func (f *Feed) widen() {
	f.line.width *= 2
	f.line.last /= 2
	for _, cells := range f.cells {
		for _, c := range cells {
			c.bin /= 2
			c.history.halve()
		}
	}
}

// series is the history of a cell as it is shown, over the last len(out) bins. Rates leave out the bin that has just begun.
func (c *cell) series(l *timeline, as recording.Transform, out []float64) {
	raw, grown := c.now()
	end, offset := l.last, 0.0
	switch {
	case as == recording.Rate && !l.whole:
		end--
	case as != recording.Rate && as != recording.Delta:
		offset = raw - grown
	}
	at := func(b int) float64 {
		if b == c.bin {
			return grown
		}
		return c.history.at(b)
	}
	for i := range out {
		switch b := end - len(out) + 1 + i; {
		case b < 0 || b > c.bin:
			out[i] = math.NaN()
		case as == recording.Rate:
			out[i] = c.rateIn(b, l, at)
		default:
			out[i] = at(b) + offset
		}
	}
}

// rateIn is the rate in a bin. The samples cover only parts of the first and the last one; if the part is short, the last one shares its rate
// with the one before.
func (c *cell) rateIn(b int, l *timeline, at func(int) float64) float64 {
	from, to := time.Duration(b)*l.width, time.Duration(b+1)*l.width
	before := at(b - 1)
	if b == c.bin {
		to = c.time
	}
	if b == l.bin(c.start.time) {
		from, before = c.start.time, c.start.grown
	} else if b == c.bin && to-from < l.width/4 {
		from, before = from-l.width, at(b-2)
	}
	if to-from < l.width/4 {
		return math.NaN()
	}
	return (at(b) - before) / (to - from).Seconds()
}
