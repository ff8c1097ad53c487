package compare

import (
	"slices"
	"time"
)

// Scaling is how computing changes from the base to runs with another number of ranks. Its factors are those of the POP project; 1 is perfect.
type Scaling struct {
	BaseRanks   int           `json:"base_ranks"`
	NewRanks    int           `json:"new_ranks"`
	Computed    bool          `json:"computed"`       // the times are those in which ranks had a core; else all time outside of MPI
	BaseUseful  time.Duration `json:"base_useful_ns"` // of all ranks; means of runs
	NewUseful   time.Duration `json:"new_useful_ns"`
	Parallel    float64       `json:"parallel_efficiency"`          // of the new side
	Computation float64       `json:"computation_scaling"`          // if both sides solve the same problem: the base's time divided by the new one
	PerRank     float64       `json:"computation_scaling_per_rank"` // if the problem grows with the ranks: likewise of the mean time of a rank
}

// Scaling compares the sides if all ranks of their runs are known, and all runs of a side have as many ranks, but the sides do not.
func (c *Comparison) Scaling() (s Scaling, ok bool) {
	if !c.Profiles || len(c.Run) == 0 || len(c.excluded) > 0 {
		return s, false
	}
	ranks, useful := [2]int{}, [2]float64{}
	same := true
	c.each(func(at place, in *Input) {
		n := len(in.Profile.Ranks)
		if same = same && n > 0 && (at.run == 0 || n == ranks[at.side]); same {
			ranks[at.side] = n
		}
		for _, r := range in.Profile.Ranks {
			useful[at.side] += float64(r.Useful()) / float64(len(c.Sides[at.side]))
		}
	})
	run := c.Run[0]
	computed := slices.ContainsFunc(run.Measures, func(m Measure) bool { return m.Name == "computed_ns" })
	if m := run.Measure("computed_ns"); computed {
		useful = [2]float64{m.Base.Mean() * float64(ranks[Base]), m.New.Mean() * float64(ranks[New])}
	}
	if !same || ranks[Base] == ranks[New] || useful[Base] <= 0 || useful[New] <= 0 {
		return s, false
	}
	s = Scaling{Computed: computed, BaseRanks: ranks[Base], NewRanks: ranks[New], BaseUseful: time.Duration(useful[Base]), NewUseful: time.Duration(useful[New]), Computation: useful[Base] / useful[New],
		Parallel: run.Measure("parallel_efficiency").New.Mean()}
	s.PerRank = s.Computation * float64(s.NewRanks) / float64(s.BaseRanks)
	return s, true
}
