package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"mpitx/catalog"
	"mpitx/cmd/mpitx/internal/virtual"
)

// selection is the variables that a command's arguments name.
type selection struct {
	vars    []*catalog.Variable
	literal map[*catalog.Variable]bool // named exactly, not by a glob
	missing []string
}

// pick reads the catalog and selects the named variables. It reports names that do not exist; code is the exit code for
// them.
func (s *source) pick(cmd *cobra.Command, names []string) (c *catalog.Catalog, chosen *selection, code int, err error) {
	if c, err = s.open(cmd, nil, ""); err != nil {
		return nil, nil, exitFailed, err
	}
	code = s.warn(c)
	c.Virtual = virtual.Matching(names...)
	if chosen, err = pick(c, names); err != nil {
		return nil, nil, code, s.end(code, err)
	}
	if len(chosen.missing) > 0 {
		chosen.unknown(s.a, c)
		if code = max(code, exitPartial); len(chosen.vars) == 0 {
			code = exitFailed
		}
	}
	return c, chosen, code, nil
}

// pick selects variables by name (NAME or NAME:CLASS) or glob, in the order given, each once.
func pick(c *catalog.Catalog, args []string) (*selection, error) {
	s := &selection{literal: map[*catalog.Variable]bool{}}
	seen := map[*catalog.Variable]bool{}
	add := func(v *catalog.Variable) {
		if !seen[v] {
			seen[v] = true
			s.vars = append(s.vars, v)
		}
	}
	for _, arg := range args {
		exact := c.Lookup(arg)
		for _, v := range exact {
			add(v)
			s.literal[v] = true
		}
		if len(exact) > 0 {
			continue
		}
		if !catalog.IsGlob(arg) {
			s.missing = append(s.missing, arg)
			continue
		}
		f := catalog.Filter{Names: []string{arg}}
		m, err := f.Compile()
		if err != nil {
			return nil, usagef("%q: %v", arg, err)
		}
		found := m.Variables(c)
		if len(found) == 0 {
			s.missing = append(s.missing, arg)
		}
		for _, v := range found {
			add(v)
		}
	}
	return s, nil
}

// unknown reports names that do not exist, and suggests similar ones.
func (s *selection) unknown(a *app, c *catalog.Catalog) {
	var all []string
	for v := range c.Variables() {
		all = append(all, v.Name)
	}
	for _, name := range s.missing {
		if catalog.IsGlob(name) {
			a.complain("%s: no variable of %s matches", name, libraryName(c))
			continue
		}
		text, list := fmt.Sprintf("%s: no variable of %s has this name", name, libraryName(c)), "mpitx list"
		if strings.HasPrefix(name, virtual.Prefix) {
			text, list = name+": mpitx has no such variable", "mpitx list virtual"
		}
		a.complain("%s", text+cmp.Or(catalog.DidYouMean(all, name), "; see "+list))
	}
}

// libraryName is the short form of a library's version text: "Open MPI v4.1.4", "MPICH 4.0.2".
func libraryName(c *catalog.Catalog) string {
	line, _, _ := strings.Cut(c.Library.Text, "\n")
	line, _, _ = strings.Cut(line, ",")
	line = strings.Join(strings.Fields(strings.Replace(line, " Version:", " ", 1)), " ")
	if line == "" {
		return "this library"
	}
	return line
}
