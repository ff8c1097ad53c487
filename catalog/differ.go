package catalog

import (
	"maps"
	"slices"
)

// What differs: between ranks, between the stages, and between what was read and what is read now. A variable's Ranks are those whose
// reading is not rank 0's in anything; people see only different answers.

// Differs reports whether a rank or a node has another reading, or other metadata.
func (v *Variable) Differs() bool { return v.RanksDiffer() || len(v.Conflicts) > 0 }

// RanksDiffer reports whether a rank or a node has another reading.
func (v *Variable) RanksDiffer() bool { return len(v.Ranks)+len(v.Nodes) > 0 }

// Answer is what reading a variable gave; the rest of a Reading is what was tried with it.
type Answer struct {
	Status Status
	Reason string
	Value  Value
}

// Answer is the reading's.
func (g *Reading) Answer() Answer { return Answer{g.Status, g.Reason, g.Value} }

// differ notes the reading of a rank other than rank 0 if it is not rank 0's. Of several of one rank the first counts.
func (v *Variable) differ(rank int, g Reading) {
	if n := len(v.Ranks); (n == 0 || v.Ranks[n-1].Rank != rank) && (v.After == nil || g != *v.After) {
		v.Ranks = append(v.Ranks, RankReading{rank, g})
	}
}

// Update puts what ranks read now in the place of what was known of them after MPI_Init. What was tried of writing stays.
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
		v.differ(rank, known[rank])
	}
}

// RankGroup is a set of ranks whose readings of a variable agree.
type RankGroup struct {
	Ranks   []int // ascending
	Reading Reading
}

// RankGroups are the readings after MPI_Init, equal ones together, in the order of their first ranks. Ranks that gave no
// answer are in none of them. A variable that exists only before MPI_Init has none.
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

// answeringRanks are the ranks that have a reading: those of the job that did not fail, and whatever the variable lists.
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
