package catalog

import (
	"maps"
	"slices"
)

// Differences between ranks, between stages, and between old and new readings. A variable's Ranks differ from rank 0's reading in
// any field; users see only different answers.

// Differs reports whether the reading or the metadata differ on another rank or node.
func (v *Variable) Differs() bool { return v.RanksDiffer() || len(v.Conflicts) > 0 }

// RanksDiffer reports whether the reading differs on another rank or node.
func (v *Variable) RanksDiffer() bool { return len(v.Ranks)+len(v.Nodes) > 0 }

// Answer is the result of reading a variable: a Reading without the result of the trial write.
type Answer struct {
	Status Status
	Reason string
	Value  Value
}

// Answer returns the reading's answer.
func (g *Reading) Answer() Answer { return Answer{g.Status, g.Reason, g.Value} }

// addRank adds the reading of a rank other than rank 0 if it differs from rank 0's. A rank's first reading counts.
func (v *Variable) addRank(rank int, g Reading) {
	if n := len(v.Ranks); (n == 0 || v.Ranks[n-1].Rank != rank) && (v.After == nil || g != *v.After) {
		v.Ranks = append(v.Ranks, RankReading{rank, g})
	}
}

// Update replaces the readings after MPI_Init of some ranks. The results of trial writes stay.
func (v *Variable) Update(now []RankReading) {
	known := map[int]Reading{}
	for _, r := range v.Ranks {
		known[r.Rank] = r.Reading
	}
	var tried Writable
	if v.After != nil {
		tried = v.After.Writable
	}
	for _, r := range now {
		r.Writable = tried
		if was, ok := known[r.Rank]; ok {
			r.Writable = was.Writable
		}
		if r.Rank == 0 {
			v.After = &r.Reading
		} else {
			known[r.Rank] = r.Reading
		}
	}
	v.Ranks = nil
	for _, rank := range slices.Sorted(maps.Keys(known)) {
		v.addRank(rank, known[rank])
	}
}

// RankGroup is the ranks whose readings of a variable agree.
type RankGroup struct {
	Ranks   []int // ascending
	Reading Reading
}

// RankGroups groups the ranks by their answers after MPI_Init, in the order of the groups' first ranks. Ranks without an
// answer are in no group. A variable that exists only before MPI_Init has no groups.
func (c *Catalog) RankGroups(v *Variable) []RankGroup {
	if v.After == nil && len(v.Ranks) == 0 {
		return nil
	}
	root := Reading{Status: StatusMissing}
	if v.After != nil {
		root = *v.After
	}
	other := make(map[int]Reading, len(v.Ranks))
	for _, r := range v.Ranks {
		other[r.Rank] = r.Reading
	}
	var groups []RankGroup
	at := map[Answer]int{}
	for _, rank := range c.answeringRanks(v) {
		r, differs := other[rank]
		if !differs {
			r = root
		}
		i, ok := at[r.Answer()]
		if !ok {
			i = len(groups)
			at[r.Answer()] = i
			groups = append(groups, RankGroup{Reading: r})
		}
		groups[i].Ranks = append(groups[i].Ranks, rank)
	}
	return groups
}

// answeringRanks returns the ranks that have a reading: the job's ranks without an error, and the ranks that the variable lists.
func (c *Catalog) answeringRanks(v *Variable) []int {
	var ranks []int
	for _, r := range c.Job.Ranks {
		if r.Error == "" {
			ranks = append(ranks, r.Rank)
		}
	}
	if len(ranks) == 0 {
		ranks = append(ranks, 0)
	}
	for _, r := range v.Ranks {
		ranks = append(ranks, r.Rank)
	}
	slices.Sort(ranks)
	return slices.Compact(ranks)
}
