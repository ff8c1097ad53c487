package catalog

import "slices"

// RankOrigin is how the user set a control variable on a rank.
type RankOrigin struct {
	Rank   int     `json:"rank"`
	Origin *Origin `json:"origin,omitzero"` // nil: not set there
}

// IsSet reports whether the user set a control variable on any rank.
func (v *Variable) IsSet() bool { return v.FirstOrigin().Origin != nil }

// FirstOrigin is the setting of the lowest rank on which the user set a control variable; without an Origin if there is none.
func (v *Variable) FirstOrigin() RankOrigin {
	if v.Origin != nil {
		return RankOrigin{0, v.Origin}
	}
	if k := slices.IndexFunc(v.Origins, func(o RankOrigin) bool { return o.Origin != nil }); k >= 0 {
		return v.Origins[k]
	}
	return RankOrigin{}
}

// OriginOn is how the user set a control variable on a rank; nil: not set.
func (v *Variable) OriginOn(rank int) *Origin {
	if k := slices.IndexFunc(v.Origins, func(o RankOrigin) bool { return o.Rank == rank }); k >= 0 {
		return v.Origins[k].Origin
	}
	return v.Origin
}

func sameOrigin(a, b *Origin) bool { return a == b || a != nil && b != nil && *a == *b }

// SettingGroup is a control variable as ranks have it that were set alike.
type SettingGroup struct {
	Ranks    []int // ascending; nil: all
	Origin   *Origin
	Variable *Variable // with the Origin and the reading after MPI_Init of the first of these ranks, without other ranks
}

// Settings groups the ranks that answered by how the user set a control variable.
func (c *Catalog) Settings(v *Variable) []SettingGroup {
	if len(v.Origins) == 0 {
		return []SettingGroup{{nil, v.Origin, v}}
	}
	var all []SettingGroup
	others, at := map[int]*Origin{}, map[Origin]int{}
	for _, o := range v.Origins {
		others[o.Rank] = o.Origin
	}
	for _, rank := range c.answeringRanks(v) {
		o, other := others[rank]
		if !other {
			o = v.Origin
		}
		var key Origin
		if o != nil {
			key = *o
		}
		if k, ok := at[key]; ok {
			all[k].Ranks = append(all[k].Ranks, rank)
			continue
		}
		at[key] = len(all)
		on := *v
		on.Origin, on.Origins, on.After, on.Ranks = o, nil, readingOf(v.After, v.Ranks, rank), nil
		if rank != 0 && on.After != nil {
			on.Before = nil // another process's
		}
		all = append(all, SettingGroup{[]int{rank}, o, &on})
	}
	return all
}
