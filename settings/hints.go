package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/text"
)

// UnknownHints say, for each name without an entry, what is similar, or where the names are.
func UnknownHints(c *catalog.Catalog, kinds catalog.Kind, missing []string) (lines []string) {
	hints := catalog.DidYouMean
	if kinds&catalog.Events != 0 {
		hints = EventHints
	}
	kinds = catalog.Variables&kinds | c.Present(kinds&^catalog.Variables)
	all, what := c.Names(kinds), described(kinds)
	for _, name := range missing {
		if text.IsGlob(name) {
			lines = append(lines, fmt.Sprintf("%s: no %s of %s matches%s", name, what, c.LibraryName(), hints(nil, name)))
			continue
		}
		if other := c.Named(catalog.Events|catalog.Sources, name); len(other) > 0 {
			lines = append(lines, fmt.Sprintf("%s: not a variable, but an event or event source of MPI_T, which has no value; see mpitx show %s", name, text.Quote(name)))
			continue
		}
		words, list := fmt.Sprintf("%s: no %s of %s has this name", name, what, c.LibraryName()), "mpitx list"
		if strings.HasPrefix(name, virtual.Prefix) {
			words, list = name+": mpitx has no such variable", "mpitx list virtual"
		}
		lines = append(lines, words+cmp.Or(hints(all, name), "; see "+list))
	}
	return lines
}

// described names kinds for the message that none has a name.
func described(kinds catalog.Kind) string {
	return strings.Replace(kinds.Describe(true), "variable, event or event source", "variable or event", 1)
}

// Listing is what mpitx list was asked for.
type Listing struct {
	Kinds, Asked      catalog.Kind // those that are listed, and those that were named
	Names, Categories []string     // globs
	From              string       // the file with the catalog; "": a library
}

// Hints suggest, for each glob without a match, what would match.
func (l *Listing) Hints(all *catalog.Catalog) []string {
	kinds := l.Kinds
	if kinds == 0 {
		kinds = catalog.Variables | all.Present(catalog.EventKinds)
	}
	var hints []string
	for _, pattern := range l.Names {
		if !matches(all, kinds, pattern) {
			says := " has this name"
			if text.IsGlob(pattern) {
				says = " matches"
			}
			hints = append(hints, pattern+": no "+described(kinds)+says+l.suggestion(all, kinds, pattern))
		}
	}
	for _, pattern := range l.Categories {
		if !matches(all, catalog.Categories, pattern) {
			hints = append(hints, "--category "+pattern+": no category has this name"+catalog.DidYouMean(all.Names(catalog.Categories), pattern))
		}
	}
	return hints
}

// matches reports whether a pattern matches the name of an entry of the given kinds. What is no pattern is reported elsewhere.
func matches(c *catalog.Catalog, kinds catalog.Kind, pattern string) bool {
	m, err := (&catalog.Filter{Names: []string{pattern}}).Compile()
	return err != nil || len(m.Entries(c, kinds)) > 0
}

// count counts the names that a pattern matches.
func count(c *catalog.Catalog, kinds catalog.Kind, pattern string) (n int) {
	m, err := (&catalog.Filter{Names: []string{pattern}}).Compile()
	if err != nil {
		return 0
	}
	for _, name := range c.Names(kinds) {
		if m.MatchName(name) {
			n++
		}
	}
	return n
}

// suggestion suggests what the user may have meant by a pattern.
func (l *Listing) suggestion(all *catalog.Catalog, kinds catalog.Kind, pattern string) string {
	command := func(kinds catalog.Kind, pattern ...string) string {
		words := append([]string{"mpitx", "list"}, kinds.Words()...)
		if l.From != "" {
			words = append(words, "--from", text.Quote(l.From))
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
		return EventHints(nil, pattern)
	}
	part := "*" + pattern + "*"
	switch n := count(all, kinds, part); {
	case n == 1:
		return "; 1 name contains it: " + command(l.Asked, part)
	case n > 1:
		return fmt.Sprintf("; %d names contain it: %s", n, command(l.Asked, part))
	}
	names := all.Names(kinds)
	if l.Asked == 0 {
		names = slices.Concat(catalog.AllKinds.Words(), names)
	}
	return EventHints(names, pattern)
}

// FilterHints explain which values a filter could have, if it excludes everything of the kinds that are listed.
func FilterHints(all *catalog.Catalog, kinds catalog.Kind, f *catalog.Filter) []string {
	lists := func(v *catalog.Variable) bool { return kinds&v.Kind != 0 }
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
		if m, err := x.alone.Compile(); !x.given || err != nil || slices.ContainsFunc(m.Variables(all), lists) {
			continue
		}
		var there []string
		for v := range all.Variables() {
			if word := x.of(v); lists(v) && word != "" && !slices.Contains(there, word) {
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
