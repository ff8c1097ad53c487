package diff

import (
	"slices"
	"strings"

	"mpitx/catalog"
)

// outside compares the settings beyond MPI_T, if both sides have been read from libraries: a list leaves them out.
func (c *comparison) outside() {
	if c.partial() {
		return
	}
	var lists [2]map[string][]*catalog.Setting
	var names []string
	for s := range c.sides {
		lists[s] = map[string][]*catalog.Setting{}
		for k := range c.sides[s].Outside {
			x := &c.sides[s].Outside[k]
			all := lists[s][x.Name]
			if slices.ContainsFunc(all, func(o *catalog.Setting) bool { return slices.Equal(o.Ranks, x.Ranks) }) {
				continue // the first one counts
			}
			if !slices.Contains(names, x.Name) {
				names = append(names, x.Name)
			}
			lists[s][x.Name] = append(all, x)
		}
	}
	for _, name := range names {
		a, b := lists[0][name], lists[1][name]
		switch {
		case b == nil:
			c.oneSetting(0, a, Vanished)
		case a == nil:
			c.oneSetting(1, b, Appeared)
		default:
			c.out.Common++
			c.changedSetting(a, b)
		}
	}
}

func (c *comparison) oneSetting(side int, all []*catalog.Setting, change Change) {
	s := all[0]
	it := Item{Change: change, Kind: catalog.Outside, Name: s.Name, Value: settingText(all)}
	x := &entry{Entry: s, kind: catalog.Outside, name: s.Name}
	if side == 0 {
		it.A = s
		c.weigh(&it, x, nil)
	} else {
		it.B = s
		c.weigh(&it, nil, x)
	}
	c.out.Items = append(c.out.Items, it)
}

func (c *comparison) changedSetting(all, others []*catalog.Setting) {
	same := func(equal func(a, b string) bool) bool {
		return slices.EqualFunc(all, others, func(a, b *catalog.Setting) bool {
			return slices.Equal(a.Ranks, b.Ranks) && equal(a.Origin.Value, b.Origin.Value)
		})
	}
	a, b := all[0], others[0]
	switch {
	case same(sameText):
		return
	case same(func(a, b string) bool { return sameText(a, b) || c.samePlace(a, b) }):
		c.placed = append(c.placed, a.Name)
		return
	}
	it := Item{Change: Changed, Kind: catalog.Outside, Name: a.Name, A: a, B: b, Fields: []Field{{Name: "value", A: settingText(all), B: settingText(others)}}}
	c.weigh(&it, &entry{Entry: a, kind: catalog.Outside, name: a.Name}, &entry{Entry: b, kind: catalog.Outside, name: b.Name})
	c.out.Items = append(c.out.Items, it)
}

// settingText is what a setting is set to, where, and on which ranks if not on all.
func settingText(all []*catalog.Setting) string {
	var parts []string
	for _, s := range all {
		part := strings.TrimSpace(s.Origin.Value)
		if s.Origin.Kind != "" {
			part += " (set in " + originText(&s.Origin) + ")"
		}
		if s.Ranks != nil {
			part += " on " + ranks(s.Ranks)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}
