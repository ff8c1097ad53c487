package catalog

import (
	"iter"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// Kind is a kind of catalog entry, or a set of kinds. The empty set stands for all kinds.
type Kind uint16

// The kinds, in listing order.
const (
	Cvars Kind = 1 << iota
	Pvars
	Virtual // performance variables that mpitx's agent computes inside applications
	Events  // event types
	Sources // of events
	Categories
	Enums

	AllKinds   Kind = 1<<iota - 1
	Variables       = Cvars | Pvars | Virtual
	Groups          = Categories | Enums // which are about other entries
	EventKinds      = Events | Sources   // of MPI_T and PERUSE
)

// KindInfo is an entry of the table of kinds.
type KindInfo struct {
	Kind
	Word  string // as an argument of list, and the key of the list in documents
	One   string // as a field
	Name  string // in messages
	Names string
	Title string // of a table

	Optional bool // left out of documents and choices if there are none

	list lister
}

var kinds = []KindInfo{
	{Kind: Cvars, Word: "cvars", One: "cvar", Name: "control variable", Names: "control variables", Title: "Control variables",
		list: listOf[Variable, *Variable](func(l *Lists) *[]Variable { return &l.Cvars })},
	{Kind: Pvars, Word: "pvars", One: "pvar", Name: "performance variable", Names: "performance variables", Title: "Performance variables",
		list: listOf[Variable, *Variable](func(l *Lists) *[]Variable { return &l.Pvars })},
	{Kind: Virtual, Word: "virtual", One: "virtual", Name: "variable of mpitx", Names: "variables of mpitx",
		Title: "Variables of mpitx, for sample and record on any MPI", Optional: true,
		list: listOf[Variable, *Variable](func(l *Lists) *[]Variable { return &l.Virtual })},
	{Kind: Events, Word: "events", One: "event", Name: "event", Names: "events", Title: "Events", Optional: true,
		list: listOf[Event, *Event](func(l *Lists) *[]Event { return &l.Events })},
	{Kind: Sources, Word: "sources", One: "source", Name: "event source", Names: "event sources", Title: "Event sources", Optional: true,
		list: listOf[Source, *Source](func(l *Lists) *[]Source { return &l.Sources })},
	{Kind: Categories, Word: "categories", One: "category", Name: "category", Names: "categories", Title: "Categories",
		list: listOf[Category, *Category](func(l *Lists) *[]Category { return &l.Categories })},
	{Kind: Enums, Word: "enums", One: "enum", Name: "enumeration", Names: "enumerations", Title: "Enumerations",
		list: listOf[Enum, *Enum](func(l *Lists) *[]Enum { return &l.Enums })},
}

// Lists are the entries of each kind, of a catalog or of one process.
type Lists struct {
	Cvars      []Variable `json:"cvars"`      // sorted by name
	Pvars      []Variable `json:"pvars"`      // sorted by name, then class
	Categories []Category `json:"categories"` // sorted by name
	Enums      []Enum     `json:"enums"`      // sorted by name

	Events  []Event  `json:"events,omitempty"`  // sorted by name
	Sources []Source `json:"sources,omitempty"` // sorted by name

	Virtual []Variable `json:"virtual,omitempty"` // mpitx's own, available on any MPI; without readings
}

// Entry is one entry of a list: a *Variable, *Event, *Source, *Category or *Enum; also a *Setting.
type Entry interface {
	ID() string // unique within its kind

	conflicts() *[]Conflict
	eachText(visit func(*string, textKind)) // all texts that can be private, apart from conflicts
}

// element is the requirements on a kind's type.
type element[E any] interface {
	*E
	Entry
	compare(*E) int          // list order; 0: the same entry
	code(*coder)             // codes the metadata for other ranks
	merge(rank int, here *E) // adds another rank's entry with the same name
	join(before *E) E        // unites both stages; the element or before may be nil
}

// lister is the operations on the list of a kind.
type lister interface {
	len(*Lists) int
	each(*Lists, func(Entry) bool) bool
	keep(*Lists, func(Entry) bool)
	sort(*Lists)
	repeated(*Lists) error
	code(*coder, *Lists)
	merge(into, from *Lists, rank int)
	join(into, before, after *Lists)
}

type listOf[E any, P element[E]] func(*Lists) *[]E

func (of listOf[E, P]) len(l *Lists) int { return len(*of(l)) }

func (of listOf[E, P]) each(l *Lists, yield func(Entry) bool) bool {
	list := *of(l)
	for i := range list {
		if !yield(P(&list[i])) {
			return false
		}
	}
	return true
}

// keep keeps the entries that are wanted, and none if wanted is nil.
func (of listOf[E, P]) keep(l *Lists, wanted func(Entry) bool) {
	all := *of(l)
	*of(l) = nil
	for i := range all {
		if wanted != nil && wanted(P(&all[i])) {
			*of(l) = append(*of(l), all[i])
		}
	}
}

// sort works on a copy if the order changes.
func (of listOf[E, P]) sort(l *Lists) {
	sortBy(of(l), func(a, b *E) int { return P(a).compare(b) })
}

// repeated fails if an entry is listed twice.
func (of listOf[E, P]) repeated(l *Lists) error {
	return unique(*of(l), func(e *E) string { return P(e).ID() })
}

// code bounds a claimed length by the smallest element, which has three bytes.
func (of listOf[E, P]) code(c *coder, l *Lists) {
	codeList(c, of(l), 3, func(c *coder, e *E) { P(e).code(c) })
}

// merge adds the entries of a rank.
func (of listOf[E, P]) merge(into, from *Lists, rank int) {
	all, more := of(into), *of(from)
	for i := range more {
		e := P(&more[i])
		at, known := sort.Find(len(*all), func(k int) int { return e.compare(&(*all)[k]) })
		if !known {
			*all = slices.Insert(*all, at, more[i])
			*P(&(*all)[at]).conflicts() = nil
			continue
		}
		P(&(*all)[at]).merge(rank, &more[i])
	}
}

func (of listOf[E, P]) join(into, before, after *Lists) {
	b, a, all := *of(before), *of(after), of(into)
	*all = slices.Grow(*all, max(len(b), len(a)))
	joinSorted(b, a, func(x, y *E) int { return P(x).compare(y) }, func(b, a *E) { *all = append(*all, P(a).join(b)) })
}

// Table returns the table's entries for these kinds.
func (k Kind) Table() iter.Seq[*KindInfo] {
	return func(yield func(*KindInfo) bool) {
		for i := range kinds {
			if k.Has(kinds[i].Kind) && !yield(&kinds[i]) {
				return
			}
		}
	}
}

// Has reports whether a set contains a kind.
func (k Kind) Has(kind Kind) bool { return k == 0 || k&kind != 0 }

// Single reports whether a set contains exactly one kind.
func (k Kind) Single() bool { return bits.OnesCount16(uint16(k)) == 1 }

// Info returns the table's entry for a kind, or for the first kind of a set.
func (k Kind) Info() *KindInfo {
	switch k {
	case 0:
		return &KindInfo{One: "unknown"}
	case Outside:
		return &outside
	}
	return &kinds[bits.TrailingZeros16(uint16(k))]
}

// MarshalText writes the kind as a field.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.Info().One), nil }

// Words returns the arguments of list for these kinds; none for the empty set.
func (k Kind) Words() []string {
	var words []string
	for i := range kinds {
		if k&kinds[i].Kind != 0 {
			words = append(words, kinds[i].Word)
		}
	}
	return words
}

// ParseKind parses the word of a kind, singular or plural, ignoring case.
func ParseKind(word string) (Kind, bool) {
	for i := range kinds {
		if strings.EqualFold(word, kinds[i].Word) || strings.EqualFold(word, kinds[i].One) {
			return kinds[i].Kind, true
		}
	}
	return 0, false
}

// Describe names the kinds for a message: "variables or categories", or for one entry "variable or category".
func (k Kind) Describe(one bool) string {
	var names []string
	variables := k.Has(Cvars) && k.Has(Pvars)
	for info := range k.Table() {
		name := info.Names
		if one {
			name = info.Name
		}
		switch {
		case !variables || info.Kind&Variables == 0:
			names = append(names, name)
		case info.Kind == Cvars:
			names = append(names, strings.TrimPrefix(name, "control "))
		}
	}
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	}
	return names[0]
}

// Entries returns the entries of some kinds, kind by kind.
func (l *Lists) Entries(k Kind) iter.Seq2[*KindInfo, Entry] {
	return func(yield func(*KindInfo, Entry) bool) {
		for info := range k.Table() {
			if !info.list.each(l, func(e Entry) bool { return yield(info, e) }) {
				return
			}
		}
	}
}

// Variables returns the control variables, then the performance variables, then the virtual ones.
func (l *Lists) Variables() iter.Seq[*Variable] { return l.variables(Variables) }

func (l *Lists) variables(k Kind) iter.Seq[*Variable] {
	return func(yield func(*Variable) bool) {
		for _, e := range l.Entries(k) {
			if !yield(e.(*Variable)) {
				return
			}
		}
	}
}

// Count returns the number of entries of some kinds.
func (l *Lists) Count(k Kind) (n int) {
	for info := range k.Table() {
		n += info.list.len(l)
	}
	return n
}

// VariableList returns the list of a kind of variables.
func (l *Lists) VariableList(k Kind) *[]Variable {
	switch k {
	case Pvars:
		return &l.Pvars
	case Virtual:
		return &l.Virtual
	}
	return &l.Cvars
}

// With returns the catalog reduced to these variables, in their order.
func (c *Catalog) With(vars []*Variable) *Catalog {
	part := *c
	part.Lists = c.Only(AllKinds &^ Variables)
	for _, v := range vars {
		list := part.VariableList(v.Kind)
		*list = append(*list, *v)
	}
	return &part
}

// Select returns the catalog reduced to these variables, events and sources, in their order within each kind.
func (c *Catalog) Select(entries []Entry) *Catalog {
	part := *c
	part.Lists = c.Only(Groups)
	for _, e := range entries {
		switch e := e.(type) {
		case *Variable:
			list := part.VariableList(e.Kind)
			*list = append(*list, *e)
		case *Event:
			part.Events = append(part.Events, *e)
		case *Source:
			part.Sources = append(part.Sources, *e)
		}
	}
	return &part
}

// setKinds sets the kind of each variable. A control variable has no class, whatever a damaged message says.
func (l *Lists) setKinds() {
	for _, k := range []Kind{Cvars, Pvars, Virtual} {
		vars := *l.VariableList(k)
		for i := range vars {
			vars[i].Kind = k
			if k == Cvars {
				vars[i].Class = 0
			}
		}
	}
}

// Keep drops entries of some kinds that are not wanted.
func (l *Lists) Keep(k Kind, wanted func(Entry) bool) {
	for info := range k.Table() {
		info.list.keep(l, wanted)
	}
}

// Only returns the lists of some kinds; the others are empty.
func (l Lists) Only(k Kind) Lists {
	if rest := AllKinds &^ k; k != 0 && rest != 0 {
		l.Keep(rest, nil)
	}
	return l
}

// agentKinds are the kinds that no process lists.
const agentKinds = Virtual
