package catalog

import (
	"slices"
	"strings"
)

// LibraryName is the short form of a library's version text: "Open MPI v4.1.4", "MPICH 4.0.2".
func (c *Catalog) LibraryName() string {
	line, _, _ := strings.Cut(c.Library.Text, "\n")
	line, _, _ = strings.Cut(line, ",")
	line = strings.Join(strings.Fields(strings.Replace(line, " Version:", " ", 1)), " ")
	if line == "" {
		return "this library"
	}
	return line
}

// MatchesAny reports whether a glob matches one of some names. An invalid pattern counts as a match: another check refuses it.
func MatchesAny(glob string, names []string) bool {
	m, err := (&Filter{Names: []string{glob}}).Compile()
	return err != nil || slices.ContainsFunc(names, m.MatchName)
}

// OfPeruse reports whether a glob can match only events of PERUSE.
func OfPeruse(glob string) bool { return strings.HasPrefix(strings.ToUpper(glob), "PERUSE_") }

// CountFaulty counts the variables that crash or hang the library.
func (c *Catalog) CountFaulty() int {
	n := 0
	for v := range c.Variables() {
		if v.Faulty() {
			n++
		}
	}
	return n
}
