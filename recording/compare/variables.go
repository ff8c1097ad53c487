package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mpitx/recording"
)

// variables compares the samples. A variable that a run does not have is not known there, and counts as nothing.
func (c *Comparison) variables() {
	items := map[string]*Item{}
	c.each(func(at place, in *Input) {
		for i := range in.Stats {
			s := &in.Stats[i]
			if s.Count == 0 || s.Min.Kind == recording.Text {
				continue
			}
			if _, named := s.Min.Item(); named { // a state, which is not a number
				continue
			}
			key := fmt.Sprint(s.Variable, "\x00", s.Class, "\x00", s.Object, "\x00", s.As)
			it := items[key]
			if it == nil {
				it = &Item{Name: s.Variable, Class: s.Class.String(), Object: s.Object, Measures: variableMeasures(s)}
				items[key] = it
				c.Variables = append(c.Variables, it)
			}
			it.seen[at.side] = true
			for k := range it.Measures {
				m := &it.Measures[k]
				sample := &m.Base
				if at.side == New {
					sample = &m.New
				}
				*sample = append(*sample, map[string]float64{"total": s.Total.Float64(), "mean": s.Mean, "min": s.Min.Float64(), "max": s.Max.Float64()}[m.Name])
			}
		}
	})
	for _, it := range c.Variables {
		it.setSide()
	}
	slices.SortStableFunc(c.Variables, func(a, b *Item) int {
		return cmp.Or(cmp.Compare(b.weight(), a.weight()), a.compareNames(b), cmp.Compare(a.Class, b.Class))
	})
}

// variableMeasures are the numbers of a variable, the most important one first. What only grows has a total over the run, with the
// least, mean and greatest of ranks; everything else has the mean over time, and extremes.
func variableMeasures(s *recording.Stat) (list []Measure) {
	names := []string{"mean", "min", "max"}
	if s.As == recording.Delta {
		names = []string{"total", "min", "mean", "max"}
	}
	unit := s.Unit
	if s.As == recording.Rate {
		unit += "/s"
	}
	for _, name := range names {
		list = append(list, Measure{Name: name, Unit: unit})
	}
	return list
}

// weight orders variables, whose units differ: by the greatest relative change of their measures. Changes of small numbers weigh less.
func (it *Item) weight() (w float64) {
	if it.Side != Both {
		return 0
	}
	for _, m := range it.Measures {
		size := max(math.Abs(m.Base.Mean()), math.Abs(m.New.Mean()))
		w = max(w, math.Abs(m.ratio())*min(math.Log10(1+size), 3))
	}
	return w
}
