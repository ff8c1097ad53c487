package catalog

import (
	"cmp"
	"maps"
	"slices"
)

// Join unites the catalogs of both stages. Variables are matched by name and class, never by index. If metadata differ between
// the stages, those after MPI_Init apply, and a Conflict with BeforeRank has the others. Either stage may be nil if nobody
// read it. The caller sets Created, Creator, Job.Launcher, the variables' Origin, and Job.Size unless it is the number of ranks.
func Join(before, after *Merged) *Catalog {
	before, after = cmp.Or(before, &Merged{}), cmp.Or(after, &Merged{})
	c := &Catalog{Schema: SchemaName, Version: SchemaVersion, Before: before.Stage, After: after.Stage}
	c.Library = after.Library
	if c.Library == (Library{}) {
		c.Library = before.Library
	}
	c.Job.Ranks = joinRanks(before.Ranks, after.Ranks)
	c.Job.Size = max(1, len(c.Job.Ranks))
	for k := range (AllKinds &^ agentKinds).Table() {
		k.list.join(&c.Lists, &before.Lists, &after.Lists)
	}
	c.linkCategories()
	return c
}

// joinSorted walks two sorted lists in parallel. One argument of both may be nil.
func joinSorted[E any](a, b []E, compare func(x, y *E) int, both func(x, y *E)) {
	for len(a) > 0 || len(b) > 0 {
		order := 0
		switch {
		case len(a) == 0:
			order = 1
		case len(b) == 0:
			order = -1
		default:
			order = compare(&a[0], &b[0])
		}
		var x, y *E
		if order <= 0 {
			x, a = &a[0], a[1:]
		}
		if order >= 0 {
			y, b = &b[0], b[1:]
		}
		both(x, y)
	}
}

func (a *Variable) join(b *Variable) Variable {
	if a == nil {
		v := *b
		v.Before, v.Nodes, v.After, v.Ranks = b.After, b.Ranks, nil, nil
		return v
	}
	v := *a
	if b != nil {
		v.Before, v.Nodes = b.After, b.Ranks
		v.Conflicts = joinConflicts(a.Conflicts, b.Conflicts, appendConflicts(nil, BeforeRank, b, a))
	}
	return v
}

// joinConflicts drops duplicate conflicts of the two stages.
func joinConflicts(after, before, own []Conflict) []Conflict {
	if len(before) == 0 && len(own) == 0 {
		return after
	}
	all := slices.Clone(after)
	for _, k := range before {
		if !slices.Contains(after, k) {
			all = append(all, k)
		}
	}
	all = append(all, own...)
	slices.SortStableFunc(all, func(a, b Conflict) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

func (a *Category) join(b *Category) Category {
	var k Category
	switch {
	case a == nil:
		k = *b
	case b == nil:
		k = *a
	default:
		// Members may differ between stages; the description must not.
		k = *a
		k.Description = cmp.Or(a.Description, b.Description) // Open MPI loses some descriptions
		own := appendConflict(nil, BeforeRank, "description", cmp.Or(b.Description, k.Description), k.Description)
		k.Added, k.Removed = without(a, b), without(b, a)
		k.addMembers(b)
		k.Events = a.Events
		k.Conflicts = joinConflicts(a.Conflicts, b.Conflicts, own)
	}
	k.Before, k.After = b != nil, a != nil
	return k
}

func (a *Enum) join(b *Enum) Enum {
	if a == nil {
		return *b
	}
	e := *a
	if b != nil {
		e.Conflicts = joinConflicts(a.Conflicts, b.Conflicts, appendEnumConflicts(nil, BeforeRank, b, a))
	}
	return e
}

// joinRanks unites the ranks of both stages. Before MPI_Init only one rank of each node reads the stage.
func joinRanks(before, after []Rank) []Rank {
	all := map[int]Rank{}
	for _, r := range after {
		all[r.Rank] = r
	}
	for _, b := range before {
		r := all[b.Rank]
		r.Rank = b.Rank
		r.Host = cmp.Or(r.Host, b.Host)
		if b.Error != "" {
			b.Error = "before MPI_Init: " + b.Error
			if r.Error != "" {
				b.Error = r.Error + "; " + b.Error
			}
			r.Error = b.Error
		}
		r.Library = cmp.Or(r.Library, b.Library)
		all[b.Rank] = r
	}
	ranks := make([]Rank, 0, len(all))
	for _, n := range slices.Sorted(maps.Keys(all)) {
		ranks = append(ranks, all[n])
	}
	return ranks
}

// linkCategories sets the categories of every variable and event from the categories' members.
func (c *Catalog) linkCategories() {
	cvars, pvars, events := map[string][]string{}, map[string][]string{}, map[string][]string{}
	for i := range c.Categories {
		k := &c.Categories[i]
		for _, name := range k.Cvars {
			cvars[name] = append(cvars[name], k.Name)
		}
		for _, id := range k.Pvars {
			pvars[id] = append(pvars[id], k.Name)
		}
		for _, name := range k.EventTypes {
			events[name] = append(events[name], k.Name)
		}
	}
	for i := range c.Cvars {
		c.Cvars[i].Categories = slices.Compact(cvars[c.Cvars[i].Name])
	}
	for i := range c.Pvars {
		c.Pvars[i].Categories = slices.Compact(pvars[c.Pvars[i].ID()])
	}
	for i := range c.Events {
		c.Events[i].Categories = slices.Compact(events[c.Events[i].Name])
	}
}
