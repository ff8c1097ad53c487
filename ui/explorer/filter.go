package explorer

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
)

// criterion is a field of the filter bar: its values, and what each lets through.
type criterion struct {
	name   string
	values []string // the first is "any"
	match  func(e *entry, value string) bool
	now    int
}

func (c *criterion) is(value string) bool { return c.values[c.now] == value }

func passAll(criteria []criterion) {
	for i := range criteria {
		criteria[i].now = 0
	}
}

var yes = []string{"any", "yes", "no"}

// newCriteria makes the fields of the filter bar, with the values that occur in a catalog.
func newCriteria(x *index) []criterion {
	words := func(of func(v *catalog.Variable) string) []string {
		seen := map[string]bool{}
		list := []string{}
		for i := range x.entries {
			if w := of(x.entries[i].v); w != "" && !seen[w] {
				seen[w] = true
				list = append(list, w)
			}
		}
		slices.Sort(list)
		return append([]string{"any"}, list...)
	}
	kinds := []string{"any"}
	for k := range exportKinds.Table() {
		if !k.Optional || x.cat.Count(k.Kind) > 0 {
			kinds = append(kinds, k.One)
		}
	}
	scope := func(v *catalog.Variable) string {
		if v.Kind != catalog.Cvars {
			return ""
		}
		return v.Scope.String()
	}
	class := func(v *catalog.Variable) string {
		if v.Kind == catalog.Cvars {
			return ""
		}
		return v.Class.String() // none of an event
	}
	datatype := func(v *catalog.Variable) string { return v.Type.String() }
	yesNo := func(is func(e *entry) bool) func(*entry, string) bool {
		return func(e *entry, value string) bool { return is(e) == (value == "yes") }
	}
	levels := []string{"any"}
	for l := catalog.Verbosity(1); l <= 9; l++ {
		levels = append(levels, l.String())
	}
	return []criterion{
		{name: "kind", values: kinds, match: func(e *entry, w string) bool { return e.v.Kind.Info().One == w }},
		{name: "verbosity", values: levels, match: func(e *entry, w string) bool { return e.source == nil && slices.Index(levels, w) >= int(e.v.Verbosity) }},
		{name: "scope", values: words(scope), match: func(e *entry, w string) bool { return scope(e.v) == w }},
		{name: "class", values: words(class), match: func(e *entry, w string) bool { return class(e.v) == w }},
		{name: "type", values: withElements(x, words(datatype)), match: (*entry).hasType},
		{name: "stage", values: []string{"any", "before", "after", "both"}, match: func(e *entry, w string) bool {
			before, after := e.stages()
			return (before || w == "after") && (after || w == "before")
		}},
		{name: "writable", values: yes, match: yesNo(func(e *entry) bool { return writable(e.v) })},
		{name: "differing", values: yes, match: yesNo(func(e *entry) bool { return e.v.Differs() })},
		{name: "changed", values: yes, match: yesNo(func(e *entry) bool { return e.v.IsSet() })},
		{name: "updated", values: yes, match: yesNo(func(e *entry) bool { return e.updated })},
		{name: "essential", values: yes, match: yesNo(func(e *entry) bool { return e.essential != nil })},
		{name: "bookmarked", values: yes, match: yesNo(func(e *entry) bool { return e.bookmarked })},
		{name: "pinned", values: yes, match: yesNo(func(e *entry) bool { return e.pinned })},
	}
}

func filtered(x *index, criteria []criterion, base []int32) []int32 {
	on := []*criterion{}
	for i := range criteria {
		if criteria[i].now > 0 {
			on = append(on, &criteria[i])
		}
	}
	if len(on) == 0 {
		return base
	}
	some := make([]int32, 0, len(base)/4)
next:
	for _, k := range base {
		for _, c := range on {
			if !c.match(&x.entries[k], c.values[c.now]) {
				continue next
			}
		}
		some = append(some, k)
	}
	return some
}

// filterText writes the filter as "kind=pvar class=counter"; "" if everything passes.
func filterText(criteria []criterion) string {
	var parts []string
	for _, c := range criteria {
		if c.now > 0 {
			parts = append(parts, c.name+"="+c.values[c.now])
		}
	}
	return strings.Join(parts, " ")
}

// setCriterion sets "name=value", as the command line gives it.
func setCriterion(criteria []criterion, text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		value = "yes"
	}
	for i := range criteria {
		if criteria[i].name != name {
			continue
		}
		k := slices.Index(criteria[i].values, value)
		if k < 0 {
			return fmt.Errorf("filter %s: unknown value %q; use one of %s", name, value, strings.Join(criteria[i].values, ", "))
		}
		criteria[i].now = k
		return nil
	}
	names := []string{}
	for _, c := range criteria {
		names = append(names, c.name)
	}
	return fmt.Errorf("filter: unknown field %q; use one of %s", name, strings.Join(names, ", "))
}

func (m *Model) noFilter() {
	passAll(m.criteria)
	m.refill()
}

func (m *Model) chooseField(by int) {
	n := len(m.criteria)
	m.field = (m.field + by + n) % n
}

func (m *Model) turnField(by int) {
	c := &m.criteria[m.field]
	c.now = (c.now + by + len(c.values)) % len(c.values)
	m.refill()
}

func (m *Model) clearField() {
	m.criteria[m.field].now = 0
	m.refill()
}
