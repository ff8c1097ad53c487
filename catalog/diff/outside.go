package diff

import (
	"strings"

	"mpitx/catalog"
)

// outside compares the settings beyond MPI_T, if both sides have been read from libraries: a list leaves them out.
func (c *comparison) outside() {
	if c.partial() {
		return
	}
	var lists [2]map[string]*catalog.Setting
	var names []string
	for s := range c.sides {
		lists[s] = map[string]*catalog.Setting{}
		for k := range c.sides[s].Outside {
			x := &c.sides[s].Outside[k]
			if lists[s][x.Name] == nil {
				lists[s][x.Name] = x
				names = append(names, x.Name)
			}
		}
	}
	for k, name := range names {
		a, b := lists[0][name], lists[1][name]
		switch {
		case b == nil:
			c.oneSetting(0, a, Vanished)
		case a == nil:
			c.oneSetting(1, b, Appeared)
		case k < len(lists[0]):
			c.out.Common++
			c.changedSetting(a, b)
		}
	}
}

func (c *comparison) oneSetting(side int, s *catalog.Setting, change Change) {
	it := Item{Change: change, Kind: catalog.Outside, Name: s.Name, Value: settingText(s)}
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

func (c *comparison) changedSetting(a, b *catalog.Setting) {
	switch {
	case sameText(a.Origin.Value, b.Origin.Value):
		return
	case c.samePlace(a.Origin.Value, b.Origin.Value):
		c.placed = append(c.placed, a.Name)
		return
	}
	it := Item{Change: Changed, Kind: catalog.Outside, Name: a.Name, A: a, B: b, Fields: []Field{{Name: "value", A: settingText(a), B: settingText(b)}}}
	c.weigh(&it, &entry{Entry: a, kind: catalog.Outside, name: a.Name}, &entry{Entry: b, kind: catalog.Outside, name: b.Name})
	c.out.Items = append(c.out.Items, it)
}

// settingText is the value of a setting and its place.
func settingText(s *catalog.Setting) string {
	return strings.TrimSpace(s.Origin.Value) + " (set in " + originText(&s.Origin) + ")"
}
