// Package diff finds what changed between two catalogs: variables, events, categories and enumerations that appeared, vanished, were
// renamed or changed. The changes are ordered by how likely they matter for speed, by the rules in rules.txt. The package uses no
// MPI library.
package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mpitx/catalog"
)

// Side is one of the two catalogs.
type Side struct {
	Name string // as the user calls it
	*catalog.Catalog

	// Partial is true for a list that leaves attributes out, such as the output of ompi_info. An attribute without a value on this
	// side is not compared, and enumerations are compared as part of the variables that use them.
	Partial bool

	// Unsteady are control variables whose values are not compared, because two processes read different ones (Unsteady).
	Unsteady map[string]bool
}

// Unsteady finds the control variables whose values differ in two readings of one library: what each process is given or draws
// for itself, and memory that the library never initialized.
func Unsteady(a, b *catalog.Catalog) map[string]bool {
	all := map[string]bool{}
	for _, it := range Compare(Side{Catalog: a}, Side{Catalog: b}, Options{Values: true}).Items {
		if it.Change == Changed {
			all[it.Name] = true
		}
	}
	return all
}

// Change is what happened to an entry.
type Change string

// The changes of entries.
const (
	Appeared Change = "appeared" // only B has it
	Vanished Change = "vanished" // only A has it
	Renamed  Change = "renamed"  // B has it under another name; fields may have changed as well
	Changed  Change = "changed"  // fields changed
)

// Changes are all changes of entries.
var Changes = []Change{Appeared, Vanished, Renamed, Changed}

// Field is an attribute that differs. Of a list, each side has only what the other one lacks.
type Field struct {
	Name string `json:"field"`
	A    string `json:"a"`
	B    string `json:"b"`
}

// Apart are both sides without the remarks at the end that both have, and these remarks: " (after MPI_Init)".
func (f Field) Apart() (a, b, both string) {
	a, b = f.A, f.B
	for {
		i := strings.LastIndex(a, " (")
		if i < 0 {
			return a, b, both
		}
		remark := a[i:]
		if remark != " ("+afterInit+")" && !strings.HasPrefix(remark, " (set in ") || !strings.HasSuffix(b, remark) {
			return a, b, both
		}
		a, b, both = a[:i], strings.TrimSuffix(b, remark), remark+both
	}
}

// Item is one entry that differs.
type Item struct {
	Change     Change       `json:"change"`
	Kind       catalog.Kind `json:"kind"`
	Name       string       `json:"name"`                // its ID on side A, or on side B if it appeared
	NewName    string       `json:"new_name,omitzero"`   // of a renamed entry, its ID on side B
	Confidence float64      `json:"confidence,omitzero"` // of a renamed entry, 0 to 1, in hundredths
	Weight     int          `json:"weight"`              // how likely it matters for speed, 0 to 100
	Reason     string       `json:"reason"`              // for the weight
	Value      string       `json:"value,omitzero"`      // of a control variable that appeared or vanished
	Fields     []Field      `json:"fields,omitempty"`    // of a changed or renamed entry; of one that appeared or vanished, its other name

	A, B catalog.Entry `json:"-"` // nil on the side that lacks it
}

// ValueText is one side of a field for people: an empty value is "".
func ValueText(s string) string {
	if s == "" || strings.HasPrefix(s, " (") { // with a remark
		return `""` + s
	}
	return s
}

// HasValue reports whether Value is the value, perhaps an empty one, of a control variable that appeared or vanished.
func (it *Item) HasValue() bool {
	if it.Kind == catalog.Outside {
		return true
	}
	v, variable := cmp.Or(it.A, it.B).(*catalog.Variable)
	return it.Value != "" || variable && v.Kind == catalog.Cvars && v.Current() != nil
}

// Set reports whether the user set the control variable on a side.
func (it *Item) Set() bool {
	if it.Kind == catalog.Outside {
		return true
	}
	for _, e := range []catalog.Entry{it.A, it.B} {
		if v, variable := e.(*catalog.Variable); variable && v.Origin != nil {
			return true
		}
	}
	return false
}

// Is reports whether the item is a change with this word: a Change, or the name of a field that differs.
func (it *Item) Is(word string) bool {
	return string(it.Change) == word || slices.ContainsFunc(it.Fields, func(f Field) bool { return f.Name == word })
}

// Options say what is compared.
type Options struct {
	// Values compares the values of control variables only.
	Values bool
}

// Diff is the result of a comparison.
type Diff struct {
	Sides   [2]Side
	Library []Field // properties of the library that differ
	Items   []Item  // the most important first
	Notes   []string
	Common  int // entries that both sides have under the same name
	LeftOut int // items that the user did not ask for
}

// Same reports whether nothing differs.
func (d *Diff) Same() bool { return len(d.Items)+len(d.Library) == 0 }

// Count counts the items with a word (Item.Is).
func (d *Diff) Count(word string) (n int) {
	for i := range d.Items {
		if d.Items[i].Is(word) {
			n++
		}
	}
	return n
}

// Compare compares two catalogs. Exchanging a and b mirrors the result. It takes time in proportion to the sizes of the catalogs.
func Compare(a, b Side, o Options) *Diff {
	c := &comparison{sides: [2]Side{a, b}, options: o, rules: builtinRules(), out: &Diff{Sides: [2]Side{a, b}}}
	c.findStages()
	if !o.Values {
		c.libraries()
	}
	for k := range catalog.AllKinds.Table() {
		if k.Kind == catalog.Virtual || o.Values && k.Kind != catalog.Cvars || c.partial() && k.Kind&catalog.Groups != 0 {
			continue
		}
		c.kind(k.Kind)
	}
	c.outside()
	c.notes()
	slices.SortStableFunc(c.out.Items, func(x, y Item) int {
		return cmp.Or(-cmp.Compare(x.Weight, y.Weight), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Name, y.Name))
	})
	return c.out
}

// comparison is a comparison under way.
type comparison struct {
	sides   [2]Side
	options Options
	rules   *rules
	out     *Diff

	before, after bool           // the stages that are compared
	hidden        [2]int         // entries of each side that exist in no compared stage
	alone         [2]int         // variables that only one side has, with Options.Values
	versions      [2]int         // of components, of each side, which the other side leaves out
	own           []string       // control variables that differ in values that are not compared
	wild          []string       // the same, of those that the library never initialized
	derived       []string       // control variables whose defaults follow from others that were set
	placed        []string       // control variables whose values differ only in the name of the home directory and the like
	places        []surroundings // of the sides, if they were needed
}

func (c *comparison) partial() bool { return c.sides[0].Partial || c.sides[1].Partial }

// kind compares the entries of one kind.
func (c *comparison) kind(k catalog.Kind) {
	var lists [2]map[string]*entry
	var order [2][]*entry
	for s := range c.sides {
		lists[s] = map[string]*entry{}
		for _, e := range c.sides[s].Entries(k) {
			if !c.compared(e) {
				c.hidden[s]++
				continue
			}
			x := &entry{Entry: e, kind: k, name: nameOf(e)}
			lists[s][e.ID()] = x
			order[s] = append(order[s], x)
		}
	}
	var only [2][]*entry
	for s := range order {
		for _, x := range order[s] {
			y := lists[1-s][x.ID()]
			switch {
			case y == nil:
				only[s] = append(only[s], x)
			case s == 0:
				c.out.Common++
				c.changed(x, y, 0)
			}
		}
	}
	if c.options.Values {
		c.settingsAlone(only)
		return
	}
	for s := range only {
		if !c.sides[1-s].Partial {
			continue
		}
		if n := countVersions(only[s]); n > countVersions(order[1-s]) { // it has those of synonyms, or with --internal all
			only[s] = slices.DeleteFunc(only[s], componentVersion)
			c.versions[s] += n
		}
	}
	if sameFamily(c.sides) {
		only = c.renamed(only, order)
	}
	for s, change := range []Change{Vanished, Appeared} {
		for _, x := range only[s] {
			c.oneSided(s, x, change)
		}
	}
	if k == catalog.Cvars {
		c.synonyms(order)
	}
}

// changed adds an item if the entries differ. A confidence marks them as renamed.
func (c *comparison) changed(a, b *entry, confidence float64) {
	it := Item{Change: Changed, Kind: a.kind, Name: a.ID(), A: a.Entry, B: b.Entry, Fields: c.fields(a, b)}
	if confidence > 0 && a.name != b.name {
		it.Change, it.NewName, it.Confidence = Renamed, b.ID(), math.Round(100*confidence)/100
	} else if len(it.Fields) == 0 {
		return
	}
	c.weigh(&it, a, b)
	c.out.Items = append(c.out.Items, it)
}

// oneSided adds an item for an entry that only one side has.
func (c *comparison) oneSided(side int, x *entry, change Change) {
	it := Item{Change: change, Kind: x.kind, Name: x.ID()}
	if v, ok := x.Entry.(*catalog.Variable); ok && x.kind == catalog.Cvars {
		it.Value = c.setting(side, v, nil).text()
	}
	if side == 0 {
		it.A = x.Entry
		c.weigh(&it, x, nil)
	} else {
		it.B = x.Entry
		c.weigh(&it, nil, x)
	}
	c.out.Items = append(c.out.Items, it)
}

// settingsAlone adds the variables that only one side has and that the user set there.
func (c *comparison) settingsAlone(only [2][]*entry) {
	for s, change := range []Change{Vanished, Appeared} {
		for _, x := range only[s] {
			if x.Entry.(*catalog.Variable).IsSet() {
				c.oneSided(s, x, change)
			} else {
				c.alone[s]++
			}
		}
	}
}

// weigh sets the weight and the reason of an item.
func (c *comparison) weigh(it *Item, a, b *entry) {
	best := -1.0
	consider := func(word string) {
		for _, x := range []*entry{a, b} {
			if x == nil {
				continue
			}
			r := c.ruleOf(x)
			change := c.rules.changes[word]
			if w := float64(r.weight) * change.factor / 100; w > best {
				best, it.Reason = w, cmp.Or(change.reason, r.reason)
			}
		}
	}
	if it.Change != Changed {
		consider(string(it.Change))
	}
	for _, f := range it.Fields {
		consider(f.Name)
	}
	if it.Kind == catalog.Cvars && it.A != nil && (it.Change == Vanished || it.Change == Renamed) && it.A.(*catalog.Variable).IsSet() {
		best /= c.rules.changes[string(it.Change)].factor / 100
		set := "set in A, and B ignores the old name; "
		if !sameFamily(c.sides) {
			set = "set in A; B has no such variable; "
		}
		it.Reason = set + it.Reason
	}
	it.Weight = int(math.Round(min(best, 100)))
}

// ruleOf finds the rule for an entry. Entries other than control variables do not change what a library does. Changed items are shown
// with the variables that have them, too.
func (c *comparison) ruleOf(x *entry) *rule {
	switch x.kind {
	case catalog.Cvars, catalog.Outside:
		return c.rules.of(x.name)
	case catalog.Pvars, catalog.Events, catalog.Sources:
		return &rule{weight: 8, reason: "measures; the library does the same"}
	case catalog.Enums:
		return &rule{weight: 4, reason: "values of the variables that use it"}
	}
	return &rule{weight: 4, reason: "only groups other entries"}
}

// libraries compares the properties of the libraries.
func (c *comparison) libraries() {
	a, b := &c.sides[0].Library, &c.sides[1].Library
	add := func(name, x, y string) {
		if x != y && !(c.partial() && (x == "" || y == "")) {
			c.out.Library = append(c.out.Library, Field{name, x, y})
		}
	}
	yes := map[bool]string{true: "yes", false: "no"}
	add("library", LibraryName(a), LibraryName(b))
	add("standard", a.Standard, b.Standard)
	if !c.partial() {
		add("events", yes[a.Events], yes[b.Events])
		add("peruse", yes[a.PERUSE], yes[b.PERUSE])
		add("qmpi", yes[a.QMPI], yes[b.QMPI])
	}
}

// LibraryChange says what differs between two libraries: "MPI_T event routines: no → yes".
func LibraryChange(f Field, arrow string) string {
	name := f.Name
	switch name {
	case "events":
		name = "MPI_T event routines:"
	case "peruse", "qmpi":
		name = strings.ToUpper(name) + ":"
	}
	return fmt.Sprintf("%s %s %s %s", name, cmp.Or(f.A, "(none)"), arrow, cmp.Or(f.B, "(none)"))
}

// LibraryName is the implementation and version of a library: "Open MPI 4.1.4".
func LibraryName(l *catalog.Library) string {
	line, _, _ := strings.Cut(l.Text, "\n")
	line, _, _ = strings.Cut(line, ",")
	name, version, ok := strings.Cut(line, " Version:")
	if ok {
		return strings.TrimSpace(name + " " + strings.TrimSpace(version))
	}
	return strings.Replace(strings.TrimSpace(line), "Open MPI v", "Open MPI ", 1)
}

// Implementation is the name of a library without its version: "Open MPI".
func Implementation(l *catalog.Library) string {
	name := LibraryName(l)
	if i := strings.IndexAny(name, "0123456789"); i > 0 {
		name = strings.TrimSpace(name[:i])
	}
	return cmp.Or(name, l.Family)
}

func sameFamily(s [2]Side) bool {
	return Implementation(&s[0].Library) == Implementation(&s[1].Library)
}

// fieldNames are the names of all fields.
var fieldNames = []string{"default", "value", "type", "scope", "verbosity", "binding", "category", "items", "description", "reading", "class", "readonly",
	"continuous", "atomic", "unit", "elements", "flags", "nesting", "hints", "clock", "order", synonym}

// Words are all words of Item.Is.
func Words() []string {
	var all []string
	for _, c := range Changes {
		all = append(all, string(c))
	}
	return append(all, fieldNames...)
}

// IsList reports whether the fields with a name are lists. Each side of such a field has only what the other lacks.
func IsList(field string) bool {
	switch field {
	case "items", "category", "nesting", "elements", "hints":
		return true
	}
	return false
}
