package catalog

import (
	"fmt"
	"slices"

	"mpitx/text"
)

// Names are the names of all entries of the given kinds, without the class of performance variables.
func (c *Catalog) Names(kinds Kind) []string {
	var names []string
	for _, e := range c.Entries(kinds) {
		name := e.ID()
		if v, ok := e.(*Variable); ok {
			name = v.Name
		}
		names = append(names, name)
	}
	return slices.Compact(names)
}

// Present reduces kinds to those that the catalog has entries of.
func (c *Catalog) Present(kinds Kind) (some Kind) {
	for k := range AllKinds.Table() {
		if kinds&k.Kind != 0 && c.Count(k.Kind) > 0 {
			some |= k.Kind
		}
	}
	return some
}

// Picked is the entries that names choose.
type Picked struct {
	Entries []Entry        // in the order of the names, each once
	Literal map[Entry]bool // those that are named exactly, not by a glob
	Missing []string       // names and globs of no entry
}

// Pick chooses entries of some kinds by name (NAME or NAME:CLASS) or glob. The error is a glob that is none.
func (c *Catalog) Pick(kinds Kind, names []string) (*Picked, error) {
	p := &Picked{Literal: map[Entry]bool{}}
	seen := map[Entry]bool{}
	for _, name := range names {
		found := c.exactly(kinds, name)
		for _, e := range found {
			p.Literal[e] = true
		}
		if len(found) == 0 && text.IsGlob(name) {
			m, err := (&Filter{Names: []string{name}}).Compile()
			if err != nil {
				return nil, fmt.Errorf("%q: %w", name, err)
			}
			found = m.Entries(c, kinds)
		}
		if len(found) == 0 {
			p.Missing = append(p.Missing, name)
		}
		for _, e := range found {
			if !seen[e] {
				seen[e] = true
				p.Entries = append(p.Entries, e)
			}
		}
	}
	return p, nil
}

// exactly are the entries of some kinds with a literal name.
func (c *Catalog) exactly(kinds Kind, name string) (found []Entry) {
	if kinds&Variables != 0 {
		for _, v := range c.Lookup(name) {
			if kinds&v.Kind != 0 {
				found = append(found, v)
			}
		}
	}
	if others := kinds &^ Variables; others != 0 {
		found = append(found, c.Named(others, name)...)
	}
	return found
}

// Entries are the entries of some kinds that match.
func (m *Matcher) Entries(c *Catalog, kinds Kind) (found []Entry) {
	if kinds&Variables != 0 {
		for _, v := range m.Variables(c) {
			if kinds&v.Kind != 0 {
				found = append(found, v)
			}
		}
	}
	if others := kinds &^ Variables; others != 0 {
		for _, e := range c.Entries(others) {
			if m.MatchEntry(e) {
				found = append(found, e)
			}
		}
	}
	return found
}

// Variables are the variables among the chosen entries.
func (p *Picked) Variables() (vars []*Variable) {
	for _, e := range p.Entries {
		if v, ok := e.(*Variable); ok {
			vars = append(vars, v)
		}
	}
	return vars
}
