package recording

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"mpitx/catalog"
)

// Stat sums up one variable of one object, over all ranks and elements. The numbers behind it are, where the variable is
// shown as a difference, one for each rank and element: how much it grew in all. Else there is one for each sample.
type Stat struct {
	Variable string
	Class    catalog.Class
	Object   string
	As       Transform

	Count     uint64 // numbers
	Min, Max  Value
	Mean, Dev float64 // Dev is the standard deviation of the numbers themselves (divided by Count)
	Total     Value   // of differences; else None
	Unit      string  // of the numbers, see [Column.Unit]; with Rate they are per second

	MinRanks, MaxRanks []int  // the ranks that have the extremes, ascending
	Without            uint64 // samples without a value
	Resets             uint64 // samples that fell in a way that cannot be a wrap
	AtMost             uint64 // samples whose value is an upper bound

	m2 float64
}

// Stats reads the whole run and sums up every variable that has numbers, in the order of their names.
func (run *Run) Stats(o Options) []Stat {
	stats, _ := run.Sums(o)
	return stats
}

// Sums are the Stats, and the time between the first and the last sample of each rank.
func (run *Run) Sums(o Options) ([]Stat, map[*Rank]time.Duration) {
	first, spans := map[*Rank]time.Duration{}, map[*Rank]time.Duration{}
	all := map[statKey]*Stat{}
	of := map[*Column]*Stat{}
	totals := map[*Column][]Cell{}
	for in := range run.Instants(o) {
		if _, ok := first[in.Rank]; !ok {
			first[in.Rank] = in.Time
		}
		spans[in.Rank] = in.Time - first[in.Rank]
		for i := range in.Cells {
			cell := &in.Cells[i]
			s := of[cell.Column]
			if s == nil {
				s = statOf(all, cell.Column, o.As)
				of[cell.Column] = s
			}
			s.sample(cell, totals)
		}
	}
	for _, c := range inOrder(totals) { // floating-point sums depend on it
		for _, cell := range totals[c] {
			if cell.Value.Kind != None {
				of[c].add(cell.Value, c.Rank.Rank)
				of[c].Total = of[c].Total.plus(cell.Value)
			}
		}
	}
	var list []Stat
	for _, s := range all {
		if s.Count > 0 {
			s.Dev = math.Sqrt(s.m2 / float64(s.Count))
		}
		slices.Sort(s.MinRanks)
		slices.Sort(s.MaxRanks)
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Stat) int {
		return cmp.Or(cmp.Compare(a.Variable, b.Variable), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Object, b.Object),
			cmp.Compare(a.As, b.As))
	})
	return list, spans
}

// inOrder are the columns by rank and identifier.
func inOrder(totals map[*Column][]Cell) []*Column {
	return slices.SortedFunc(maps.Keys(totals), func(a, b *Column) int {
		return cmp.Or(cmp.Compare(a.Rank.Rank, b.Rank.Rank), cmp.Compare(a.Rank.id, b.Rank.id), cmp.Compare(a.ID, b.ID))
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
}

func statOf(all map[statKey]*Stat, c *Column, as Transform) *Stat {
	key := statKey{c.Variable, c.ObjectName, c.Class, c.Shown(as)}
	s := all[key]
	if s == nil {
		s = &Stat{Variable: c.Variable, Object: c.ObjectName, Class: c.Class, As: key.as, Unit: c.Unit()}
		all[key] = s
	}
	return s
}

func (s *Stat) sample(cell *Cell, totals map[*Column][]Cell) {
	switch cell.Status {
	case Reset:
		s.Resets++
	case AtMost:
		s.AtMost++
	}
	if cell.Value.Kind == None {
		s.Without++
		return
	}
	if s.As != Delta {
		s.add(cell.Value, cell.Column.Rank.Rank)
		return
	}
	t := totals[cell.Column]
	if t == nil {
		t = make([]Cell, cell.Column.Count)
		totals[cell.Column] = t
	}
	if cell.Element < len(t) {
		t[cell.Element].Value = cell.Value
	}
}

func (s *Stat) add(v Value, rank int) {
	x := v.Float64()
	if math.IsNaN(x) {
		s.Without++
		return
	}
	s.Count++
	d := x - s.Mean
	s.Mean += d / float64(s.Count)
	s.m2 += d * (x - s.Mean)
	if v.Kind == Text {
		return
	}
	extreme(&s.Min, &s.MinRanks, v, rank, s.Count == 1, -1)
	extreme(&s.Max, &s.MaxRanks, v, rank, s.Count == 1, 1)
}

// extreme keeps the extreme value and whose it is.
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
