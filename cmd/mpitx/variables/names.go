package variables

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/agent/virtual"
	"mpitx/catalog"
	"mpitx/cmd/mpitx/cli"
	"mpitx/settings"
	"mpitx/text"
)

// selection is the entries that a command's arguments name.
type selection struct {
	entries []catalog.Entry
	literal map[catalog.Entry]bool // named exactly, not by a glob
	missing []string
}

// pickFrom reads the catalog and selects the named entries of some kinds. It reports names that do not exist; code is the exit code for
// them.
func pickFrom(s *cli.Source, cmd *cobra.Command, kinds catalog.Kind, names []string) (c *catalog.Catalog, chosen *selection, code int, err error) {
	if c, err = s.Open(cmd, nil, ""); err != nil {
		return nil, nil, cli.ExitFailed, err
	}
	code = s.Warn(c)
	if kinds&catalog.Events != 0 {
		c = c.WithPeruse()
	}
	c.Virtual = virtual.Matching(names...)
	if chosen, err = pick(c, kinds, names); err != nil {
		return nil, nil, code, s.End(code, err)
	}
	if len(chosen.missing) > 0 {
		chosen.unknown(s.App, c, kinds)
		if code = max(code, cli.ExitPartial); len(chosen.entries) == 0 {
			code = cli.ExitFailed
		}
	}
	return c, chosen, code, nil
}

// vars are the variables of a selection.
func (s *selection) vars() (vars []*catalog.Variable) {
	for _, e := range s.entries {
		if v, ok := e.(*catalog.Variable); ok {
			vars = append(vars, v)
		}
	}
	return vars
}

// pick selects entries of some kinds by name (NAME or NAME:CLASS) or glob, in the order given, each once.
func pick(c *catalog.Catalog, kinds catalog.Kind, args []string) (*selection, error) {
	s := &selection{literal: map[catalog.Entry]bool{}}
	seen := map[catalog.Entry]bool{}
	add := func(e catalog.Entry) {
		if !seen[e] {
			seen[e] = true
			s.entries = append(s.entries, e)
		}
	}
	for _, arg := range args {
		exact := lookUp(c, kinds, arg)
		for _, e := range exact {
			add(e)
			s.literal[e] = true
		}
		if len(exact) > 0 {
			continue
		}
		if !text.IsGlob(arg) {
			s.missing = append(s.missing, arg)
			continue
		}
		found, err := matching(c, kinds, arg)
		if err != nil {
			return nil, cli.Usagef("%q: %v", arg, err)
		}
		if len(found) == 0 {
			s.missing = append(s.missing, arg)
		}
		for _, e := range found {
			add(e)
		}
	}
	return s, nil
}

// lookUp returns the entries of some kinds with a literal name.
func lookUp(c *catalog.Catalog, kinds catalog.Kind, name string) (found []catalog.Entry) {
	if kinds&catalog.Variables != 0 {
		for _, v := range c.Lookup(name) {
			found = append(found, v)
		}
	}
	if others := kinds &^ catalog.Variables; others != 0 {
		found = append(found, c.Named(others, name)...)
	}
	return found
}

// matching returns the entries of some kinds whose names match a glob.
func matching(c *catalog.Catalog, kinds catalog.Kind, glob string) (found []catalog.Entry, err error) {
	m, err := (&catalog.Filter{Names: []string{glob}}).Compile()
	if err != nil {
		return nil, err
	}
	if kinds&catalog.Variables != 0 {
		for _, v := range m.Variables(c) {
			found = append(found, v)
		}
	}
	if others := kinds &^ catalog.Variables; others != 0 {
		for _, e := range c.Entries(others) {
			if m.MatchEntry(e) {
				found = append(found, e)
			}
		}
	}
	return found, nil
}

// unknown reports names that do not exist, and suggests similar ones.
func (s *selection) unknown(a *cli.App, c *catalog.Catalog, kinds catalog.Kind) {
	hints := catalog.DidYouMean
	if kinds&catalog.Events != 0 {
		hints = settings.EventHints
	}
	kinds = catalog.Variables&kinds | there(c, kinds&^catalog.Variables)
	all, what := namesOf(c, kinds), described(kinds)
	for _, name := range s.missing {
		if text.IsGlob(name) {
			a.Complain("%s: no %s of %s matches%s", name, what, c.LibraryName(), hints(nil, name))
			continue
		}
		if other := c.Named(catalog.Events|catalog.Sources, name); len(other) > 0 {
			a.Complain("%s: not a variable, but an event or event source of MPI_T, which has no value; see mpitx show %s", name, text.Quote(name))
			continue
		}
		words, list := fmt.Sprintf("%s: no %s of %s has this name", name, what, c.LibraryName()), "mpitx list"
		if strings.HasPrefix(name, virtual.Prefix) {
			words, list = name+": mpitx has no such variable", "mpitx list virtual"
		}
		a.Complain("%s", words+cmp.Or(hints(all, name), "; see "+list))
	}
}

// described names kinds for the message that none has a name.
func described(kinds catalog.Kind) string {
	return strings.Replace(kinds.Describe(true), "variable, event or event source", "variable or event", 1)
}

// there reduces kinds to those that a catalog has.
func there(c *catalog.Catalog, kinds catalog.Kind) (some catalog.Kind) {
	for k := range catalog.AllKinds.Table() {
		if kinds&k.Kind != 0 && c.Count(k.Kind) > 0 {
			some |= k.Kind
		}
	}
	return some
}
