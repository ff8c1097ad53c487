package settings

import (
	"cmp"
	"fmt"
	"slices"

	"mpitx/catalog"
	"mpitx/text"
)

// Assign parses settings of a library's control variables. The error says which is wrong.
func (j *Judge) Assign(c *catalog.Catalog, given []NameValue) (all []Assignment, err error) {
	for _, g := range given {
		found := slices.DeleteFunc(c.Lookup(g.Name), func(v *catalog.Variable) bool { return v.Kind != catalog.Cvars })
		switch {
		case len(found) == 0 && len(c.Lookup(g.Name)) == 0:
			names := make([]string, len(c.Cvars))
			for k := range c.Cvars {
				names[k] = c.Cvars[k].Name
			}
			return nil, fmt.Errorf("%s: the library has no such variable%s", g.Name, text.DidYouMean(names, g.Name))
		case len(found) == 0:
			return nil, fmt.Errorf("%s: is a performance variable, which cannot be set for a run", g.Name)
		case len(found) > 1: // names that differ in case only
			return nil, fmt.Errorf("%s: could be %s or %s", g.Name, found[0].Name, found[1].Name)
		}
		v := found[0]
		items, count := Enums(j.Impl, c)(v), 1
		if r := v.Current(); r != nil {
			count = max(r.Count, 1)
		}
		value, err := catalog.ParseValue(v, items, count, g.Value)
		if err := cmp.Or(IsItem(j.Impl, v, items, g.Value), err); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, err)
		}
		if slices.ContainsFunc(all, func(a Assignment) bool { return a.Variable == v }) {
			return nil, fmt.Errorf("%s is given twice", v.Name)
		}
		all = append(all, Assignment{Variable: v, Enum: c.Enum(v.Enum), Value: value})
	}
	return all, nil
}
