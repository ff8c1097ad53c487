package compare

import (
	"math"
	"time"
)

// Scaling is how computing changes from the base to runs with another number of ranks. Its factors are those of the POP project; 1 is perfect.
type Scaling struct {
	BaseRanks   int           `json:"base_ranks"`
	NewRanks    int           `json:"new_ranks"`
	BaseTime    time.Duration `json:"base_computed_ns"` // in which ranks ran outside of MPI, of all ranks; means of runs
	NewTime     time.Duration `json:"new_computed_ns"`
	Parallel    float64       `json:"parallel_efficiency"`          // of the new side: the mean computing time of a rank divided by the run time
	Computation float64       `json:"computation_scaling"`          // if both sides solve the same problem: the base's time divided by the new one
	PerRank     float64       `json:"computation_scaling_per_rank"` // if the problem grows with the ranks: likewise of the mean time of a rank
}

// Scaling compares the sides if it is known to within a twentieth how long all ranks of their runs compute, and all runs of a side have as many ranks, but the sides do not.
// sizes: the sides have different numbers of ranks.
func (c *Comparison) Scaling() (s Scaling, ok, sizes bool) {
	if !c.Profiles || len(c.Run) == 0 || len(c.excluded) > 0 {
		return s, false, false
	}
	ranks, same := [2]int{}, true
	var least, most [2]time.Duration
	c.each(func(at place, in *Input) {
		n := len(in.Profile.Ranks)
		if same = same && n > 0 && (at.run == 0 || n == ranks[at.side]); same {
			ranks[at.side] = n
		}
		for _, r := range in.Profile.Ranks {
			if r.Processor == nil {
				most[at.side] = math.MaxInt64 / 2
				break
			}
			least[at.side] += r.Processor.Ran.Least
			most[at.side] += r.Processor.Ran.Most + max(r.Useful()-r.Processor.Outside, 0)
		}
	})
	if !same || ranks[Base] == ranks[New] {
		return s, false, false
	}
	var times [2]float64
	for side := range times {
		if float64(most[side]) > 1.05*float64(least[side]) || least[side] == 0 {
			return s, false, true
		}
		times[side] = float64(least[side]+most[side]) / 2 / float64(len(c.Sides[side]))
	}
	base, with, run := times[Base], times[New], c.Run[0].Measure("elapsed_ns").New.Mean()
	s = Scaling{BaseRanks: ranks[Base], NewRanks: ranks[New], BaseTime: time.Duration(base), NewTime: time.Duration(with), Parallel: with / float64(ranks[New]) / run, Computation: base / with}
	s.PerRank = s.Computation * float64(s.NewRanks) / float64(s.BaseRanks)
	return s, true, true
}
