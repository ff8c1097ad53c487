package recording

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"mpitx/catalog"
)

// Stat is the statistics of one variable and object over all ranks and elements. With Delta there is one number for each
// rank and element: its growth over the whole run. Otherwise there is one number for each sample, and Mean and Dev weigh it by
// time: a rate by the time since the previous sample, a raw value by the time that is closer to its sample than to another.
type Stat struct {
	Variable string
	Class    catalog.Class
	Object   string
	As       Transform
	Rank     *Rank // nil: all

	Count     uint64 // how many numbers
	Min, Max  Value
	Mean, Dev float64 // Dev is the standard deviation of the population (divided by Count or the time)
	Total     Value   // with Delta; else None
	Unit      string  // of the numbers: see [Column.Unit]; with Rate per second

	MinRanks, MaxRanks []int  // the ranks with the extremes, ascending
	Without            uint64 // samples without a value
	Resets             uint64 // samples with status Reset
	AtMost             uint64 // samples with status AtMost
	Excluded           []int  // incomplete ranks, which are in no number: see [Run.Excludes]

	mean weightedMean
}

// Stats reads the whole run and returns the statistics of every numeric variable, sorted by name.
func (run *Run) Stats(o Options) []Stat {
	stats, _ := run.sums(o, false)
	return stats
}

// StatsByRank is [Run.Stats], with the statistics of each rank apart.
func (run *Run) StatsByRank(o Options) []Stat {
	stats, _ := run.sums(o, true)
	return stats
}

// Sums returns the Stats and the time that they cover in each rank: from the start of differences, even if that sample was
// not kept, to the last sample.
func (run *Run) Sums(o Options) ([]Stat, map[*Rank]time.Duration) { return run.sums(o, false) }

func (run *Run) sums(o Options, byRank bool) ([]Stat, map[*Rank]time.Duration) {
	first, last := map[*Rank]time.Duration{}, map[*Rank]time.Duration{}
	begun := map[*Set]bool{}
	all := map[statKey]*Stat{}
	sums := map[*Column]*columnSum{}
	excluded := map[*Rank]bool{}
	for _, r := range run.Ranks {
		excluded[r] = run.Excludes(r)
	}
	for in := range run.Instants(o) {
		if excluded[in.Rank] {
			for i := range in.Cells {
				statOf(all, in.Cells[i].Column, o.As, byRank).exclude(in.Rank.Rank)
			}
			continue
		}
		if !begun[in.Set] {
			begun[in.Set] = true
			earliest, known := first[in.Rank]
			if start := in.begin(run); !known || start < earliest {
				first[in.Rank] = start
			}
		}
		last[in.Rank] = in.Time
		for i := range in.Cells {
			cell := &in.Cells[i]
			c := sums[cell.Column]
			if c == nil {
				c = &columnSum{column: cell.Column, stat: statOf(all, cell.Column, o.As, byRank)}
				sums[cell.Column] = c
			}
			c.sample(cell, in.Time, in.resumed)
		}
	}
	for _, c := range inOrder(sums) { // floating-point sums depend on the order
		c.end()
	}
	var list []Stat
	place := map[*Rank]int{}
	for i, r := range run.Ranks {
		place[r] = i
	}
	for _, s := range all {
		s.finish()
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Stat) int {
		return cmp.Or(cmp.Compare(a.Variable, b.Variable), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.As, b.As), cmp.Compare(place[a.Rank], place[b.Rank]))
	})
	spans := map[*Rank]time.Duration{}
	for r, at := range last {
		spans[r] = at - first[r]
	}
	return list, spans
}

// begin is the time from which the instant's set counts differences.
func (in *Instant) begin(run *Run) time.Duration {
	if in.Set.baseline == nil {
		return in.Time
	}
	return min(in.Time, run.time(in.Rank, in.Set.baseTime))
}

// inOrder returns the columns by rank and identifier.
func inOrder(sums map[*Column]*columnSum) []*columnSum {
	return slices.SortedFunc(maps.Values(sums), func(x, y *columnSum) int {
		a, b := x.column, y.column
		return cmp.Or(cmp.Compare(a.Rank.Rank, b.Rank.Rank), cmp.Compare(a.Rank.process.Stream, b.Rank.process.Stream), cmp.Compare(a.ID, b.ID))
	})
}

// Zero reports whether all numbers are 0, or there are none.
func (s *Stat) Zero() bool {
	return s.Count == 0 || s.Min.Float64() == 0 && s.Max.Float64() == 0
}

type statKey struct {
	variable, object string
	class            catalog.Class
	as               Transform
	rank             *Rank
}

func statOf(all map[statKey]*Stat, c *Column, as Transform, byRank bool) *Stat {
	key := statKey{c.Variable, c.ObjectName, c.Class, c.Shown(as), nil}
	if byRank {
		key.rank = c.Rank
	}
	s := all[key]
	if s == nil {
		s = &Stat{Variable: c.Variable, Object: c.ObjectName, Class: c.Class, As: key.as, Rank: key.rank, Unit: c.Unit()}
		all[key] = s
	}
	return s
}

// finish computes the mean after the last number.
func (s *Stat) finish() {
	slices.Sort(s.MinRanks)
	slices.Sort(s.MaxRanks)
	slices.Sort(s.Excluded)
	switch {
	case s.Count == 0:
	case s.Min.Compare(s.Max) == 0: // exact for any weights
		s.Mean = s.Min.Float64()
	default:
		s.Mean, s.Dev = s.mean.mean(), s.mean.deviation()
	}
}

func (s *Stat) exclude(rank int) {
	if n := len(s.Excluded); n == 0 || s.Excluded[n-1] != rank && !slices.Contains(s.Excluded, rank) {
		s.Excluded = append(s.Excluded, rank)
	}
}

// number adds a number to everything but the mean. It returns false for NaN.
func (s *Stat) number(v Value, rank int) bool {
	if math.IsNaN(v.Float64()) {
		s.Without++
		return false
	}
	s.Count++
	extreme(&s.Min, &s.MinRanks, v, rank, s.Count == 1, -1)
	extreme(&s.Max, &s.MaxRanks, v, rank, s.Count == 1, 1)
	return true
}

// extreme keeps the extreme value and the ranks that have it.
func extreme(best *Value, ranks *[]int, v Value, rank int, first bool, sign int) {
	c := v.Compare(*best) * sign
	switch {
	case first || c > 0:
		*best = v
		*ranks = append((*ranks)[:0], rank)
	case c == 0 && (*ranks)[len(*ranks)-1] != rank && !slices.Contains(*ranks, rank):
		*ranks = append(*ranks, rank)
	}
}

// statOrder are the numbers to sort by; numbers are sorted largest first.
var statOrder = map[string]func(*Stat) float64{
	"name":   nil,
	"count":  func(s *Stat) float64 { return float64(s.Count) },
	"min":    func(s *Stat) float64 { return s.Min.Float64() },
	"mean":   func(s *Stat) float64 { return s.Mean },
	"max":    func(s *Stat) float64 { return s.Max.Float64() },
	"stddev": func(s *Stat) float64 { return s.Dev },
	"total":  func(s *Stat) float64 { return s.Total.Float64() },
}

// StatOrders are the numbers by which [SortStats] sorts.
func StatOrders() []string { return slices.Sorted(maps.Keys(statOrder)) }

// SortStats sorts by a number, largest first, or leaves the order by name.
func SortStats(stats []Stat, order string) {
	by := statOrder[order]
	if by == nil { // already sorted by name
		return
	}
	slices.SortStableFunc(stats, func(a, b Stat) int {
		x, y := by(&a), by(&b)
		switch noX, noY := math.IsNaN(x), math.IsNaN(y); {
		case noX != noY && noX:
			return 1
		case noX != noY:
			return -1
		}
		return cmp.Or(cmp.Compare(b.Unit, a.Unit), cmp.Compare(y, x))
	})
}
