package explorer

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/ui/term"
)

// The difference of two catalogs is an index with an entry for each item, in the order of the items. A variable stands for the item, as
// one stands for an event: it has the properties of side B, or of side A if B lacks the entry.

func newDiffIndex(d *diff.Diff, t term.Term) *index {
	c := &catalog.Catalog{}
	c.Cvars = make([]catalog.Variable, len(d.Items)) // of all kinds
	x := &index{cat: c, byID: map[string]int32{}, entries: make([]entry, 0, len(d.Items))}
	for i := range d.Items {
		c.Cvars[i] = itemEntry(&d.Items[i])
		if _, taken := x.byID[c.Cvars[i].ID()]; !taken {
			x.byID[c.Cvars[i].ID()] = int32(i)
		}
		x.add(entry{v: &c.Cvars[i], change: &d.Items[i]}, t)
	}
	x.root = newDiffTree(x, d)
	x.listCounts = newCensus(x, x.root, len(x.entries))
	return x
}

func itemEntry(it *diff.Item) (v catalog.Variable) {
	e := it.B
	if e == nil {
		e = it.A
	}
	switch e := e.(type) {
	case *catalog.Variable:
		v = *e
	case *catalog.Event:
		v = *eventEntry(e)
	case *catalog.Source:
		v = *sourceEntry(e)
	case *catalog.Category:
		v = catalog.Variable{Kind: it.Kind, Description: e.Description}
	default:
		v = catalog.Variable{Kind: it.Kind}
	}
	switch a, variable := it.A.(*catalog.Variable); {
	case variable:
		v.Name, v.Class = a.Name, a.Class
	case it.Kind&catalog.Groups != 0:
		v.Name = it.Kind.Info().One + " " + it.Name
	default:
		v.Name = cmp.Or(v.Name, it.Name)
	}
	v.Description = strings.TrimSpace(it.NewName + "\n" + v.Description) // a search finds both names
	return v
}

func newDiffTree(x *index, d *diff.Diff) *branch {
	at := map[string]int{}
	places := *x // with the places of the items instead of their names, which several kinds may share
	places.cat, places.byID = &catalog.Catalog{}, map[string]int32{}
	tree := places.cat
	for s := range d.Sides {
		for i := range d.Sides[s].Categories {
			k := &d.Sides[s].Categories[i]
			n, known := at[k.Name]
			if !known {
				n, at[k.Name] = len(tree.Categories), len(tree.Categories)
				tree.Categories = append(tree.Categories, catalog.Category{Name: k.Name})
			}
			tree.Categories[n].Description = k.Description
			tree.Categories[n].Categories = append(tree.Categories[n].Categories, k.Categories...)
		}
	}
	for i := range d.Items {
		place := strconv.Itoa(i)
		places.byID[place] = int32(i)
		tree.Cvars = append(tree.Cvars, catalog.Variable{Kind: catalog.Cvars, Name: place})
		for _, e := range []catalog.Entry{d.Items[i].A, d.Items[i].B} {
			for _, name := range categoriesOf(e) {
				if n, ok := at[name]; ok { // if both sides have it, it is listed twice, and counts once
					tree.Categories[n].Cvars = append(tree.Categories[n].Cvars, place)
				}
			}
		}
	}
	root := newTree(&places)
	root.name, root.label = "all differences", "all differences"
	root.prune()
	return root
}

// categoriesOf are the categories that list an entry; a category is in its own branch.
func categoriesOf(e catalog.Entry) []string {
	switch e := e.(type) {
	case *catalog.Variable:
		return e.Categories
	case *catalog.Event:
		return e.Categories
	case *catalog.Category:
		return []string{e.Name}
	}
	return nil
}

func (b *branch) prune() {
	b.kids = slices.DeleteFunc(b.kids, func(kid *branch) bool { return kid.count == 0 })
	for _, kid := range b.kids {
		kid.prune()
	}
}

// diffCriteria are the fields of the filter bar for a difference: those of all lists that make sense, and the change.
func diffCriteria(d *diff.Diff, all []criterion) []criterion {
	words := []string{"any"}
	for _, w := range diff.Words() {
		if d.Count(w) > 0 {
			words = append(words, w)
		}
	}
	list := []criterion{{name: "change", values: words, match: func(e *entry, w string) bool { return e.change.Is(w) }}}
	for _, c := range all {
		switch c.name {
		case "kind":
			c.values = []string{"any"}
			for k := range catalog.AllKinds.Table() {
				if slices.ContainsFunc(d.Items, func(it diff.Item) bool { return it.Kind == k.Kind }) {
					c.values = append(c.values, k.One)
				}
			}
		case "verbosity", "scope", "class", "type", "essential", "bookmarked":
		default:
			continue
		}
		list = append(list, c)
	}
	return list
}
