package variables

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/settings"
	"mpitx/text"
)

// namesOf are the names of all entries of the given kinds.
func namesOf(c *catalog.Catalog, kinds catalog.Kind) []string {
	var names []string
	for _, e := range c.Entries(kinds) {
		name := e.ID()
		if v, ok := e.(*catalog.Variable); ok {
			name = v.Name
		}
		names = append(names, name)
	}
	return slices.Compact(names)
}

// matches reports whether a pattern matches the name of an entry of the given kinds.
func matches(c *catalog.Catalog, kinds catalog.Kind, pattern string) bool {
	m, err := (&catalog.Filter{Names: []string{pattern}}).Compile()
	if err != nil {
		return true // compile reports the error
	}
	others := kinds &^ catalog.Variables
	return slices.ContainsFunc(m.Variables(c), func(v *catalog.Variable) bool { return kinds&v.Kind != 0 }) ||
		others != 0 && slices.ContainsFunc(namesOf(c, others), m.MatchName)
}

// nameHints suggest, for each pattern without a match, what would match.
func (o *listOptions) nameHints(all *catalog.Catalog) []string {
	kinds := o.kinds
	if kinds == 0 {
		kinds = catalog.Variables | there(all, catalog.EventKinds)
	}
	var hints []string
	for _, pattern := range o.globs {
		if !matches(all, kinds, pattern) {
			says := " has this name"
			if text.IsGlob(pattern) {
				says = " matches"
			}
			hints = append(hints, pattern+": no "+described(kinds)+says+o.instead(all, kinds, pattern))
		}
	}
	for _, pattern := range o.category {
		if !matches(all, catalog.Categories, pattern) {
			hints = append(hints, "--category "+pattern+": no category has this name"+catalog.DidYouMean(namesOf(all, catalog.Categories), pattern))
		}
	}
	return hints
}

// instead suggests what the user may have meant by a pattern.
func (o *listOptions) instead(all *catalog.Catalog, kinds catalog.Kind, pattern string) string {
	command := func(kinds catalog.Kind, pattern ...string) string {
		words := append([]string{"mpitx", "list"}, kinds.Words()...)
		if o.From != "" {
			words = append(words, "--from", text.Quote(o.From))
		}
		for _, p := range pattern {
			words = append(words, text.Quote(p))
		}
		return strings.Join(words, " ")
	}
	for other := range catalog.AllKinds.Table() {
		if kinds&other.Kind == 0 && matches(all, other.Kind, pattern) {
			if other.Kind == catalog.Categories && !text.IsGlob(pattern) {
				return ", but a category: mpitx list --category " + text.Quote(pattern)
			}
			return ", but one of the " + other.Names + ": " + command(other.Kind, pattern)
		}
	}
	if text.IsGlob(pattern) {
		return settings.EventHints(nil, pattern)
	}
	part := "*" + pattern + "*"
	switch n := countMatches(all, kinds, part); {
	case n == 1:
		return "; 1 name contains it: " + command(o.asked, part)
	case n > 1:
		return fmt.Sprintf("; %d names contain it: %s", n, command(o.asked, part))
	}
	names := namesOf(all, kinds)
	if o.asked == 0 {
		names = slices.Concat(catalog.AllKinds.Words(), names)
	}
	return settings.EventHints(names, pattern)
}

func countMatches(c *catalog.Catalog, kinds catalog.Kind, pattern string) int {
	m, err := (&catalog.Filter{Names: []string{pattern}}).Compile()
	if err != nil {
		return 0
	}
	n := 0
	for _, name := range namesOf(c, kinds) {
		if m.MatchName(name) {
			n++
		}
	}
	return n
}

// lists reports whether a variable's kind is listed.
func (o *listOptions) lists(v *catalog.Variable) bool { return o.kinds&v.Kind != 0 }

// filterHints explain which values a filter could have, if it excludes everything.
func (o *listOptions) filterHints(all *catalog.Catalog) []string {
	f := &o.compiled
	var hints []string
	for _, x := range []struct {
		flag  string
		given bool
		alone catalog.Filter
		of    func(v *catalog.Variable) string
	}{
		{"scope", f.Scopes != nil, catalog.Filter{Scopes: f.Scopes}, func(v *catalog.Variable) string { return v.Scope.String() }},
		{"class", f.Classes != nil, catalog.Filter{Classes: f.Classes}, func(v *catalog.Variable) string { return v.Class.String() }},
		{"type", f.Types != nil, catalog.Filter{Types: f.Types}, func(v *catalog.Variable) string { return v.Type.String() }},
		{"bind", f.Binds != nil, catalog.Filter{Binds: f.Binds}, func(v *catalog.Variable) string { return v.Bind.String() }},
	} {
		if m, err := x.alone.Compile(); !x.given || err != nil || slices.ContainsFunc(m.Variables(all), o.lists) {
			continue
		}
		var there []string
		for v := range all.Variables() {
			if word := x.of(v); o.lists(v) && word != "" && !slices.Contains(there, word) {
				there = append(there, word)
			}
		}
		slices.Sort(there)
		if there != nil {
			hints = append(hints, "--"+x.flag+": the variables here have "+strings.Join(there, ", "))
		}
	}
	if f.Differing && all.Job.Size <= 1 {
		hints = append(hints, "--differing compares ranks, and there is one: start more with -n")
	}
	return hints
}
