package main

import (
	"fmt"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/origin"
	"mpitx/export"
)

// namesOf are the names of some kinds.
func namesOf(c *catalog.Catalog, kinds export.Kinds) []string {
	var names []string
	for v := range c.Variables() {
		if ofKinds(v, kinds) {
			names = append(names, v.Name)
		}
	}
	for k := range c.Categories {
		if kinds&export.Categories != 0 {
			names = append(names, c.Categories[k].Name)
		}
	}
	for k := range c.Enums {
		if kinds&export.Enums != 0 {
			names = append(names, c.Enums[k].Name)
		}
	}
	return slices.Compact(names)
}

// matches tells whether something of some kinds has a name that a pattern matches.
func matches(c *catalog.Catalog, kinds export.Kinds, pattern string) bool {
	m, err := (&catalog.Filter{Names: []string{pattern}}).Compile()
	if err != nil {
		return true // is said elsewhere
	}
	return slices.ContainsFunc(m.Variables(c), func(v *catalog.Variable) bool {
		return ofKinds(v, kinds)
	}) || slices.ContainsFunc(namesOf(c, kinds&(export.Categories|export.Enums)), m.MatchName)
}

// nameHints say of each pattern that matches no name what would match.
func (o *listOptions) nameHints(all *catalog.Catalog) []string {
	kinds := o.kinds
	if kinds == 0 {
		kinds = export.Variables
	}
	var hints []string
	for _, pattern := range o.globs {
		if !matches(all, kinds, pattern) {
			says := " has this name"
			if catalog.IsGlob(pattern) {
				says = " matches"
			}
			hints = append(hints, pattern+": no "+kinds.Describe(true)+says+o.instead(all, kinds, pattern))
		}
	}
	for _, pattern := range o.category {
		if !matches(all, export.Categories, pattern) {
			hints = append(hints, "--category "+pattern+": no category has this name"+catalog.DidYouMean(namesOf(all, export.Categories), pattern))
		}
	}
	return hints
}

// instead is what might have been meant by a pattern.
func (o *listOptions) instead(all *catalog.Catalog, kinds export.Kinds, pattern string) string {
	command := func(kinds export.Kinds, pattern ...string) string {
		words := append([]string{"mpitx", "list"}, kinds.Words()...)
		if o.from != "" {
			words = append(words, "--from", origin.Quote(o.from))
		}
		for _, p := range pattern {
			words = append(words, origin.Quote(p))
		}
		return strings.Join(words, " ")
	}
	for _, other := range []export.Kinds{export.Cvars, export.Pvars, export.Virtual, export.Categories, export.Enums} {
		if kinds&other == 0 && matches(all, other, pattern) {
			if other == export.Categories && !catalog.IsGlob(pattern) {
				return ", but a category: mpitx list --category " + origin.Quote(pattern)
			}
			return ", but one of the " + other.Describe(false) + ": " + command(other, pattern)
		}
	}
	if catalog.IsGlob(pattern) {
		return ""
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
		names = slices.Concat(export.KindWords(), names)
	}
	return catalog.DidYouMean(names, pattern)
}

func countMatches(c *catalog.Catalog, kinds export.Kinds, pattern string) int {
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

// lists tells whether a variable is of a kind that is listed.
func (o *listOptions) lists(v *catalog.Variable) bool { return ofKinds(v, o.kinds) }

func ofKinds(v *catalog.Variable, kinds export.Kinds) bool {
	return kinds&map[catalog.Kind]export.Kinds{catalog.Cvar: export.Cvars, catalog.Pvar: export.Pvars, catalog.Virtual: export.Virtual}[v.Kind] != 0
}

// filterHints say what there is of that by which a filter leaves everything out.
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
