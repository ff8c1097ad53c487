// Package columns names variables of a run, for commands that read some of them only.
package columns

import (
	"fmt"
	"slices"

	"mpitx/catalog"
	"mpitx/recording"
)

// Key is a variable of one object, on all ranks.
type Key struct {
	Variable, Object string
	Class            catalog.Class
}

// KeyOf is the key of a column.
func KeyOf(c *recording.Column) Key { return Key{c.Variable, c.ObjectName, c.Class} }

// Set is a selection of variables; nil means all.
type Set map[Key]bool

// Column is the selection as a function for [recording.Options].
func (s Set) Column() func(*recording.Column) bool {
	if s == nil {
		return nil
	}
	return func(c *recording.Column) bool { return s[KeyOf(c)] }
}

// Of are the variables of a run.
func Of(run *recording.Run) Set {
	all := Set{}
	for _, r := range run.Ranks {
		for _, c := range r.Columns {
			if c != nil && c.Variable != "" {
				all[KeyOf(c)] = true
			}
		}
	}
	return all
}

// Variables are the names, sorted.
func (s Set) Variables() []string {
	var names []string
	for k := range s {
		names = append(names, k.Variable)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Nonzero are the variables that are not always 0. It reads the run.
func (s Set) Nonzero(run *recording.Run, o recording.Options) Set {
	moved := Set{}
	o.Column = s.Column()
	for _, s := range run.Stats(o) {
		if !s.Zero() {
			moved[Key{Variable: s.Variable, Object: s.Object, Class: s.Class}] = true
		}
	}
	return moved
}

// Globs choose variables by name; none choose all.
type Globs []*Glob

// Glob is a pattern for names, with or without their class.
type Glob struct {
	Text string
	*catalog.Matcher
}

// ParseGlobs reads globs. The error is one that is none.
func ParseGlobs(texts []string) (all Globs, err error) {
	for _, g := range texts {
		m, err := (&catalog.Filter{Names: []string{g}}).Compile()
		if err != nil {
			return nil, err
		}
		all = append(all, &Glob{g, m})
	}
	return all, nil
}

func (g *Glob) has(k Key) bool {
	return g.MatchName(k.Variable) || g.MatchName(k.Variable+":"+k.Class.String())
}

// Has reports whether a variable is chosen.
func (g Globs) Has(k Key) bool {
	return len(g) == 0 || slices.ContainsFunc(g, func(one *Glob) bool { return one.has(k) })
}

// In are the variables of a run that are chosen; nil: all. A glob without a match is an error.
func (g Globs) In(run *recording.Run) (Set, error) {
	if len(g) == 0 {
		return nil, nil
	}
	all, chosen := Of(run), Set{}
	for _, one := range g {
		found := false
		for k := range all {
			if one.has(k) {
				chosen[k], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: the run has no such variable%s", one.Text, catalog.DidYouMean(all.Variables(), one.Text))
		}
	}
	return chosen, nil
}
