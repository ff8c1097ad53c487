package diff

import (
	"slices"
	"strings"

	"mpitx/catalog"
)

// Attribute is an attribute of an item as both sides have it; "" on a side without the entry.
type Attribute struct {
	Name    string
	A, B    string
	Differs bool
}

// Attributes are all attributes of an item, those that differ first.
func (d *Diff) Attributes(it *Item) []Attribute {
	c := &comparison{sides: d.Sides, rules: builtinRules()}
	var all []Attribute
	for side, e := range []catalog.Entry{it.A, it.B} {
		if e == nil {
			continue
		}
		for _, x := range c.texts(side, e, it) {
			i := slices.IndexFunc(all, func(a Attribute) bool { return a.Name == x.name })
			if i < 0 {
				i = len(all)
				all = append(all, Attribute{Name: x.name})
			}
			if side == 0 {
				all[i].A = x.text
			} else {
				all[i].B = x.text
			}
		}
	}
	for _, f := range it.Fields {
		if isValue(f.Name) || f.Name == synonym { // of the stage that differs
			all = append([]Attribute{{f.Name, f.A, f.B, true}}, all...)
		}
	}
	for i := range all {
		a := &all[i]
		a.Differs = a.Differs || a.Name == "name" && it.Change == Renamed || slices.ContainsFunc(it.Fields, func(f Field) bool { return f.Name == a.Name })
	}
	slices.SortStableFunc(all, func(a, b Attribute) int {
		switch {
		case a.Differs == b.Differs:
			return 0
		case a.Differs:
			return -1
		}
		return 1
	})
	return all
}

func isValue(field string) bool { return field == "default" || field == "value" || field == "reading" }

// texts are the attributes of an entry as texts.
func (c *comparison) texts(side int, e catalog.Entry, it *Item) []attribute {
	all := []attribute{{name: "name", text: nameOf(e)}}
	if v, ok := e.(*catalog.Variable); ok {
		if it.Kind == catalog.Cvars && !slices.ContainsFunc(it.Fields, func(f Field) bool { return isValue(f.Name) }) {
			all = append(all, attribute{name: "value", text: c.setting(side, v, nil).text()})
		}
		if enum := c.sides[side].Enum(v.Enum); enum != nil {
			all = append(all, attribute{name: "items", list: items(enum)})
		}
	}
	all = append(all, attributes(e)...)
	for i := range all {
		if all[i].list != nil {
			all[i].text = strings.Join(all[i].list, ", ")
		}
	}
	return all
}
