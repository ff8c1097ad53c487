package diff

import (
	"fmt"
	"strings"

	"mpitx/catalog"
)

// setting is what a control variable is set to on one side.
type setting struct {
	value  string
	fault  string // instead of a value
	origin string // how the user set it
	wild   bool   // the value is what was in memory by chance
}

func (s setting) text() string {
	text := s.value
	if s.wild {
		text = "(not initialized)"
	}
	if s.fault != "" {
		text = s.fault
	}
	if s.origin != "" {
		text += " (" + s.origin + ")"
	}
	return text
}

// uninitialized reports whether the value of a control variable is what was in memory by chance.
func (c *comparison) uninitialized(v *catalog.Variable) bool {
	odd := func(g *catalog.Reading) bool {
		return g != nil && g.Value.Type() == catalog.TypeBool && g.Status == catalog.StatusOK && g.Value.Len() > 0 && g.Value.Uint(0) > 1
	}
	return c.rules.uninitialized[v.Name] || odd(v.Before) || odd(v.After)
}

const afterInit = "after MPI_Init"

// values are the differences between the values of two control variables. The values before MPI_Init are compared, as MPI_Init may
// adapt them to the job, and only if they are equal those after it.
func (c *comparison) values(a, b *catalog.Variable) []Field {
	apart := len(a.Origins)+len(b.Origins) > 0 // ranks were set differently, and only one of each node was read before MPI_Init
	for _, stage := range []struct {
		compared bool
		reading  func(*catalog.Variable) *catalog.Reading
		where    string
	}{
		{c.before, func(v *catalog.Variable) *catalog.Reading { return v.Before }, ""},
		{c.after, func(v *catalog.Variable) *catalog.Reading { return v.After }, afterInit},
		{!c.before && !c.after, (*catalog.Variable).Current, ""},
	} {
		x, y := stage.reading(a), stage.reading(b)
		if !stage.compared || x == nil || y == nil || apart && x == a.Before && y == b.Before && c.after && a.After != nil && b.After != nil {
			continue
		}
		s, t := c.setting(0, a, x), c.setting(1, b, y)
		sameNumber := a.Enum+b.Enum != "" && x.Status == catalog.StatusOK && x.Status == y.Status && x.Value == y.Value // only the item's name changed
		if s.fault == t.fault && (sameNumber && len(a.Ranks)+len(b.Ranks) == 0 || sameText(s.value, t.value)) {
			continue
		}
		if s.fault == t.fault && c.samePlace(s.value, t.value) {
			c.placed = append(c.placed, a.Name)
			continue
		}
		f := Field{Name: "value", A: s.text(), B: t.text()}
		switch {
		case s.fault != "" || t.fault != "":
			f.Name = "reading"
		case apart:
		case stage.where != "" && c.before && a.Before != nil && b.Before != nil:
			f.A, f.B = f.A+" ("+stage.where+")", f.B+" ("+stage.where+")"
		case s.origin == "" && t.origin == "" && !c.options.Values:
			if c.followsSetting(a.Name, stage.reading) {
				c.derived = append(c.derived, a.Name)
				return nil
			}
			f.Name = "default"
		}
		return []Field{f}
	}
	return nil
}

// setting describes a reading of a variable; the current one if g is nil.
func (c *comparison) setting(side int, v *catalog.Variable, g *catalog.Reading) (s setting) {
	if g == nil {
		g = v.Current()
	}
	s.origin = c.origin(side, v)
	if g == nil {
		return s
	}
	if g.Status != catalog.StatusOK {
		s.fault = strings.TrimSuffix(string(g.Status)+": "+g.Reason, ": ")
		return s
	}
	s.value, s.wild = c.sides[side].ValueText(v, g.Value), c.uninitialized(v)
	if set, ok := c.sides[side].Unreported(v); ok {
		s.value, s.origin = set, s.origin+", the library does not report it"
		return s
	}
	if g == v.After && len(v.Ranks) > 0 {
		s.value = rankTexts(c.sides[side].Catalog, v)
	}
	return s
}

// origin says how the user set a variable, and on which ranks if not on all.
func (c *comparison) origin(side int, v *catalog.Variable) string {
	var parts []string
	settings := c.sides[side].Settings(v)
	for _, g := range settings {
		switch {
		case g.Origin == nil:
		case len(settings) == 1:
			return "set in " + originText(g.Origin)
		default:
			parts = append(parts, "set in "+originText(g.Origin)+" on "+ranks(g.Ranks))
		}
	}
	return strings.Join(parts, ", ")
}

// originText is the place of a setting: "environment OMPI_MCA_btl", or "file /etc/openmpi-mca-params.conf:3".
func originText(o *catalog.Origin) string {
	return strings.TrimSpace(string(o.Kind) + " " + o.Where)
}

// rankTexts are the values of a variable that differ between ranks.
func rankTexts(c *catalog.Catalog, v *catalog.Variable) string {
	var parts []string
	for _, g := range c.RankGroups(v) {
		text := c.ValueText(v, g.Reading.Value)
		if g.Reading.Status != catalog.StatusOK {
			text = string(g.Reading.Status)
		}
		parts = append(parts, fmt.Sprintf("%s on %s", text, ranks(g.Ranks)))
	}
	return strings.Join(parts, ", ")
}

// ranks are ascending ranks as text: "ranks 0-3,7".
func ranks(all []int) string {
	if len(all) == 1 {
		return fmt.Sprintf("rank %d", all[0])
	}
	var parts []string
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0]+n {
			n++
		}
		if n == 1 {
			parts = append(parts, fmt.Sprint(all[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", all[0], all[n-1]))
		}
		all = all[n:]
	}
	return "ranks " + strings.Join(parts, ",")
}
