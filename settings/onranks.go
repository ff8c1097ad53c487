package settings

import (
	"slices"
	"strings"

	"mpitx/catalog"
)

// Everywhere returns what influences the processes of a job, of which this one is rank 0: its influences, then those that only other
// ranks have, and the processors that ranks are bound to.
func Everywhere(q Query, job *catalog.Job) []Influence {
	type group struct {
		ranks []int
		found []Influence
	}
	first, others := &group{found: Influences(q)}, map[string]*group{}
	groups := []*group{first}
	bound := map[string][]int{}
	n := 0
	for _, r := range job.Ranks {
		if r.Error != "" {
			continue
		}
		n++
		bound[r.Binding] = append(bound[r.Binding], r.Rank)
		g, key := first, strings.Join(r.Settings, "\x00")
		if r.Settings != nil {
			if g = others[key]; g == nil {
				g = &group{found: Influences(q.On(r.Settings))}
				others[key] = g
				groups = append(groups, g)
			}
		}
		g.ranks = append(g.ranks, r.Rank)
	}
	var all []Influence
	for _, g := range groups {
		for _, i := range g.found {
			k := slices.IndexFunc(all, func(o Influence) bool { return i.equal(&o) })
			if k < 0 {
				k, all = len(all), append(all, i)
			}
			all[k].Ranks = append(all[k].Ranks, g.ranks...)
		}
	}
	for _, r := range job.Ranks { // in the order of the lowest ranks
		if ranks := bound[r.Binding]; r.Binding != "" && len(ranks) > 0 && ranks[0] == r.Rank {
			all = append(all, Influence{Name: "binding", Reader: "the system", Origin: catalog.Origin{Where: "sched_getaffinity", Value: r.Binding}, Ranks: ranks, beyond: true})
		}
	}
	for k := range all {
		i := &all[k]
		slices.Sort(i.Ranks)
		if i.Ranks = slices.Compact(i.Ranks); len(i.Ranks) == n {
			i.Ranks = nil
		}
	}
	return all
}

// equal reports whether two influences differ at most in their ranks.
func (i *Influence) equal(o *Influence) bool {
	return i.Name == o.Name && i.Reader == o.Reader && i.Cvar == o.Cvar && i.Origin == o.Origin && i.Dropped == o.Dropped && i.Overridden == o.Overridden &&
		i.beyond == o.beyond && i.Unknown == o.Unknown
}
