package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
)

// entry is an entry of one side.
type entry struct {
	catalog.Entry
	kind catalog.Kind
	name string // without the class

	// For finding renamed entries:
	words     []uint64 // of the name
	textWords []uint64 // of the description, a sorted set
	text      uint64   // the hash of the description; 0: none
	form      int      // equal for equal types
}

func nameOf(e catalog.Entry) string {
	if v, ok := e.(*catalog.Variable); ok {
		return v.Name
	}
	return e.ID()
}

// componentVersion reports whether an entry is a part of a component's version. Open MPI marks these variables as internal, so that
// ompi_info leaves them out without --internal. MPI_T does not tell which other variables are internal.
func componentVersion(x *entry) bool {
	v, ok := x.Entry.(*catalog.Variable)
	return ok && v.Verbosity == catalog.VerbosityMPIDevAll && v.Description == "" && strings.HasSuffix(v.Name, "_version")
}

func countVersions(all []*entry) (n int) {
	for _, x := range all {
		if componentVersion(x) {
			n++
		}
	}
	return n
}

// attribute is a field that is compared: a text, or a list. Of a list, only the difference is shown.
type attribute struct {
	name string
	text string
	list []string
}

var yesNo = map[bool]string{true: "yes", false: "no"}

// attributes are the fields of an entry other than its value and enumeration, in the same order for all entries of a kind.
func attributes(e catalog.Entry) []attribute {
	switch e := e.(type) {
	case *catalog.Variable:
		common := []attribute{
			{name: "type", text: e.Type.String()}, {name: "binding", text: e.Bind.String()}, {name: "verbosity", text: e.Verbosity.String()},
			{name: "category", list: e.Categories}, {name: "unit", text: e.Unit}, {name: "description", text: e.Description},
		}
		if e.Kind == catalog.Cvars {
			return append(common, attribute{name: "scope", text: e.Scope.String()})
		}
		return append(common, attribute{name: "class", text: e.Class.String()}, attribute{name: "readonly", text: yesNo[e.Readonly]},
			attribute{name: "continuous", text: yesNo[e.Continuous]}, attribute{name: "atomic", text: yesNo[e.Atomic]})
	case *catalog.Event:
		elements := make([]string, len(e.Elements))
		for i, x := range e.Elements {
			elements[i] = fmt.Sprintf("%d %s %s at %d", i, x.Name, x.Type, x.Displacement)
		}
		return []attribute{{name: "binding", text: e.Bind.String()}, {name: "verbosity", text: e.Verbosity.String()}, {name: "elements", list: elements},
			{name: "category", list: e.Categories}, {name: "hints", list: hints(e.Hints)}, {name: "description", text: e.Description}}
	case *catalog.Source:
		clock := fmt.Sprintf("%d ticks per second, up to %d", e.TicksPerSecond, e.MaxTicks)
		return []attribute{{name: "clock", text: clock}, {name: "order", text: e.Order.String()}, {name: "hints", list: hints(e.Hints)},
			{name: "description", text: e.Description}}
	case *catalog.Setting:
		return []attribute{{name: "read by", text: e.Reader}, {name: "set in", text: originText(&e.Origin)}}
	case *catalog.Category:
		return []attribute{{name: "nesting", list: e.Categories}, {name: "description", text: e.Description}}
	case *catalog.Enum:
		return []attribute{{name: "items", list: items(e)}, {name: "flags", text: yesNo[e.Flags]}}
	}
	return nil
}

func hints(all []catalog.Hint) []string {
	list := make([]string, len(all))
	for i, h := range all {
		list[i] = h.Key + "=" + h.Value
	}
	return list
}

// items are the items of an enumeration as texts.
func items(e *catalog.Enum) []string {
	if e == nil {
		return nil
	}
	list := make([]string, len(e.Items))
	for i, it := range e.Items {
		list[i] = strconv.Itoa(it.Value) + " " + it.Name
	}
	return list
}

// fields are the fields that differ between two entries.
func (c *comparison) fields(a, b *entry) (all []Field) {
	add := func(f Field) {
		unknown := c.sides[0].Partial && f.A == "" || c.sides[1].Partial && f.B == ""
		if !unknown && f.A != f.B {
			all = append(all, f)
		}
	}
	va, variable := a.Entry.(*catalog.Variable)
	if variable && a.kind == catalog.Cvars {
		vb := b.Entry.(*catalog.Variable)
		switch all = c.values(va, vb); {
		case all == nil:
		case c.uninitialized(va) || c.uninitialized(vb):
			all, c.wild = nil, append(c.wild, va.Name)
		case c.rules.process[va.Name] || c.sides[0].Unsteady[va.Name] || c.sides[1].Unsteady[va.Name]:
			all, c.own = nil, append(c.own, va.Name)
		}
	}
	if c.options.Values {
		return all
	}
	if variable {
		if f, differs := c.enumeration(va, b.Entry.(*catalog.Variable)); differs {
			add(f)
		}
	}
	x, y := attributes(a.Entry), attributes(b.Entry)
	for i := range x {
		switch {
		case x[i].list != nil || y[i].list != nil:
			unknown := c.sides[0].Partial && len(x[i].list) == 0 || c.sides[1].Partial && len(y[i].list) == 0
			if f, differs := listField(x[i].name, x[i].list, y[i].list); differs && !unknown {
				all = append(all, f)
			}
		case !sameText(x[i].text, y[i].text):
			add(Field{x[i].name, x[i].text, y[i].text})
		}
	}
	return all
}

// listField is the difference of two lists.
func listField(name string, a, b []string) (f Field, differs bool) {
	if slices.Equal(a, b) {
		return f, false
	}
	f = Field{name, strings.Join(without(a, b), ", "), strings.Join(without(b, a), ", ")}
	return f, f.A != f.B
}

func without(a, b []string) (rest []string) {
	there := map[string]bool{}
	for _, s := range b {
		there[s] = true
	}
	for _, s := range a {
		if !there[s] {
			rest = append(rest, s)
		}
	}
	return rest
}

// enumeration compares the enumerations of two variables.
func (c *comparison) enumeration(a, b *catalog.Variable) (f Field, differs bool) {
	if a.Enum == "" && b.Enum == "" {
		return f, false
	}
	x, y := c.sides[0].Enum(a.Enum), c.sides[1].Enum(b.Enum)
	if c.partial() && (x == nil || y == nil) {
		return f, false
	}
	return listField("items", items(x), items(y))
}

// marks are what catalog.Redact puts in the place of private texts.
var marks = strings.NewReplacer("<path>", "\x00", "<ip>", "\x00", "<mac>", "\x00", "<user>", "\x00", "<host>", "\x00", "<address>", "\x00")

// sameText reports whether two texts are equal, as far as they are not redacted.
func sameText(a, b string) bool {
	return a == b || matchesRedacted(a, b) || matchesRedacted(b, a)
}

// matchesRedacted reports whether a text is the other one before parts of it were redacted.
func matchesRedacted(redacted, text string) bool {
	if !strings.Contains(redacted, "<") {
		return false
	}
	parts := strings.Split(marks.Replace(redacted), "\x00")
	if len(parts) == 1 {
		return false
	}
	rest, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		i := strings.Index(rest, p)
		if i < 0 {
			return false
		}
		rest = rest[i+len(p):]
	}
	return strings.HasSuffix(rest, parts[last])
}
