package explorer

import (
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/export/variables"
	"mpitx/ui/term"
)

// maxText is the number of bytes of a description that are searched.
const maxText = 4096

// entry is a variable, an event or an event source, prepared for the screen.
type entry struct {
	v       *catalog.Variable // of an event or source, a stand-in (event.go)
	event   *catalog.Event
	source  *catalog.Source
	name    string // safe for the terminal
	width   int32  // of the name in cells
	low     string // name with ASCII letters in lower case: byte for byte the same length
	text    string // the beginning of the description, in lower case as well
	first   string // the value at the start; set by the first reading that differs
	updated bool   // the value differs from the first
	pinned  bool
	next    bool // it is set for the next run

	bookmarked bool
	change     *diff.Item // of a difference (diff.go)
	essential  *Essential // nil: users do not commonly tune it
	purpose    string     // of an essential variable, in lower case
}

// index is a catalog, prepared for display and search.
type index struct {
	cat     *catalog.Catalog
	entries []entry
	byID    map[string]int32
	pvars   map[string]int32        // by name: that of the first class
	others  map[catalog.Entry]int32 // events and event sources
	root    *branch
	all     []int32
	names   nameWidths
	sieves  []sieve // of the entries: they rule most of these out in a search without touching them

	namedBy    map[*entry][]*entry // the variables whose descriptions have the name of a variable; at most maxMentions
	listCounts                     // of the tree
}

func newIndex(c *catalog.Catalog, t term.Term) *index {
	x := &index{cat: c, entries: make([]entry, 0, c.Count(exportKinds))}
	x.byID, x.pvars, x.sieves = make(map[string]int32, cap(x.entries)), map[string]int32{}, make([]sieve, 0, cap(x.entries))
	for v := range c.Variables() {
		x.byID[v.ID()] = int32(len(x.entries))
		if _, known := x.pvars[v.Name]; !known && v.Kind != catalog.Cvars {
			x.pvars[v.Name] = int32(len(x.entries))
		}
		x.add(entry{v: v}, t)
	}
	x.others = map[catalog.Entry]int32{}
	for i := range c.Events {
		x.addOther(entry{v: eventEntry(&c.Events[i]), event: &c.Events[i]}, t)
	}
	for i := range c.Sources {
		x.addOther(entry{v: sourceEntry(&c.Sources[i]), source: &c.Sources[i]}, t)
	}
	x.readMentions()
	x.root = newTree(x)
	x.listCounts = newCensus(x, x.root, len(x.entries))
	return x
}

func (x *index) add(e entry, t term.Term) {
	x.all = append(x.all, int32(len(x.entries)))
	e.name = t.Safe(e.v.Name)
	e.low, e.text = lower(e.name), lower(e.v.Description[:min(len(e.v.Description), maxText)])
	x.sieves = append(x.sieves, newSieve(e.low, e.text))
	e.width = int32(term.Width(e.name))
	x.names.add(int(e.width))
	x.entries = append(x.entries, e)
}

// entry is that of an ID; nil: there is none.
func (x *index) entry(id string) *entry {
	if k, ok := x.byID[id]; ok {
		return &x.entries[k]
	}
	return nil
}

// addOther appends an event or event source. A variable with the same name keeps it.
func (x *index) addOther(e entry, t term.Term) {
	at := int32(len(x.entries))
	if _, taken := x.byID[e.v.ID()]; !taken {
		x.byID[e.v.ID()] = at
	}
	x.others[e.item()] = at
	x.add(e, t)
}

// lower is s with ASCII letters in lower case; s itself if nothing changes.
func lower(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= 'A' && c <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if c := b[i]; c >= 'A' && c <= 'Z' {
					b[i] = c + 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// sieve is what a name and the texts of an entry consist of: the bytes of the name, folded into 64 bits, and the pairs of neighbouring
// bytes in all of them, folded into 256 bits.
type sieve struct {
	letters uint64
	pairs   [4]uint64
}

func newSieve(name string, texts ...string) (s sieve) {
	for i := range len(name) {
		s.letters |= 1 << (name[i] & 63)
	}
	s.add(name)
	for _, text := range texts {
		s.add(text)
	}
	return s
}

func (s *sieve) add(text string) {
	for i := 1; i < len(text); i++ {
		n := text[i-1]<<3 ^ text[i]
		s.pairs[n>>6] |= 1 << (n & 63)
	}
}

// spells reports whether the name may have the letters of another one.
func (s *sieve) spells(o *sieve) bool { return s.letters&o.letters == o.letters }

// holds reports whether the name or a text may contain another one.
func (s *sieve) holds(o *sieve) bool {
	p, q := &s.pairs, &o.pairs
	return q[0]&^p[0]|q[1]&^p[1]|q[2]&^p[2]|q[3]&^p[3] == 0
}

// value is a variable's present value on one line, or what an event consists of.
func (x *index) value(e *entry) string {
	if !e.variable() {
		return e.summary()
	}
	return variables.VariableText(x.cat, e.v, e.v.Current())
}

// markHelp explains the marks: UTF-8, ASCII, meaning.
var markHelp = [][3]string{{"w", "w", "writable"}, {"≠", "!", "differs between ranks"}, {"*", "*", "set by the user"}, {"✗", "x", "faulty, or cannot be read"},
	{"?", "?", "the ranks disagree about its properties"}, {"Δ", "c", "updated since the start"}, {"»", "+", "set for the next run"}, {"◆", "P", "pinned"}, {"★", "B", "bookmarked"}, {"†", "-", "exists only before MPI_Init"}}

// marks shows the states of a variable, one character each, as the tables of `mpitx list` do.
func (e *entry) marks(t term.Term) (string, term.Color) {
	var b strings.Builder
	color := term.Default
	add := func(on bool, utf8, ascii string, c term.Color) {
		if !on {
			return
		}
		if t.UTF8 {
			b.WriteString(utf8)
		} else {
			b.WriteString(ascii)
		}
		if color == term.Default {
			color = c
		}
	}
	status, _ := e.unusable()
	add(status != "", "✗", "x", term.Bad)
	add(len(e.v.Conflicts) > 0, "?", "?", term.Bad)
	add(e.next, "»", "+", term.Warn)
	add(e.v.RanksDiffer(), "≠", "!", term.Warn)
	add(e.v.IsSet(), "*", "*", term.Good)
	add(e.updated, "Δ", "c", term.Warn)
	add(e.bookmarked, "★", "B", term.Accent)
	add(e.pinned, "◆", "P", term.Accent)
	add(writable(e.v), "w", "w", term.Default)
	before, after := e.stages()
	add(before && !after, "†", "-", term.Muted)
	return b.String(), color
}

// writable says whether a variable can be written after MPI_Init, where the explorer writes.
func writable(v *catalog.Variable) bool {
	return v.After != nil && v.After.Writable == catalog.WritableYes
}

// kindWord is a variable's scope, or its class; of other entries the kind.
func kindWord(v *catalog.Variable) string {
	if v.Kind&catalog.Variables == 0 {
		return v.Kind.Info().One
	}
	if v.Kind != catalog.Cvars {
		return v.Class.String()
	}
	return v.Scope.String()
}
