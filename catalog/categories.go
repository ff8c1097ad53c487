package catalog

import "slices"

// CategoryChanges are the numbers of categories that MPI_Init adds, removes, and changes the members of.
func (c *Catalog) CategoryChanges() (added, removed, changed int) {
	if !c.Before.Read || !c.After.Read {
		return 0, 0, 0
	}
	for i := range c.Categories {
		switch k := &c.Categories[i]; {
		case !k.Before:
			added++
		case !k.After:
			removed++
		case len(k.Added)+len(k.Removed) > 0:
			changed++
		}
	}
	return added, removed, changed
}

// OtherCategories is the number of categories that only one of two catalogs has, or that have other members.
func OtherCategories(a, b *Catalog) (n int) {
	there := make(map[string]*Category, len(a.Categories))
	for i := range a.Categories {
		there[a.Categories[i].Name] = &a.Categories[i]
	}
	for i := range b.Categories {
		k := &b.Categories[i]
		was := there[k.Name]
		delete(there, k.Name)
		if was == nil || len(without(was, k))+len(without(k, was)) > 0 {
			n++
		}
	}
	return n + len(there)
}

// without lists the members of a category that another one does not have.
func without(a, b *Category) (only []string) {
	for _, lists := range [][2][]string{{a.Cvars, b.Cvars}, {a.Pvars, b.Pvars}, {a.EventTypes, b.EventTypes}, {a.Categories, b.Categories}} {
		if slices.Equal(lists[0], lists[1]) {
			continue
		}
		there := make(map[string]bool, len(lists[1]))
		for _, name := range lists[1] {
			there[name] = true
		}
		for _, name := range lists[0] {
			if !there[name] {
				only = append(only, name)
			}
		}
	}
	return only
}
