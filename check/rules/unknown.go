//go:build cgo && linux

package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mpitx/binding"
)

// getIndexUnknown asks for a name that nothing has, for the empty name, and for names that are almost those of a list.
func getIndexUnknown(m *mpi) {
	for _, l := range lists(m) {
		for _, name := range []string{"mpitx_no_such_name", ""} {
			if !m.item("%s_get_index (name %q)", l.prefix, name) {
				continue
			}
			c := m.indexOf(l, name, unnamed()).code
			if c.rc == binding.ErrNotProvided {
				m.notApplicable("the library is older than MPI-3.1: it has no %s_get_index", l.prefix)
				return
			}
			m.expect(c.is(binding.ErrInvalidName))
		}
		m.almostNames(l)
	}
}

// almostNames asks for each name without its last character, with one more, and in the other case, unless that is a name, too.
func (m *mpi) almostNames(l *list) {
	known := map[string]bool{}
	key := func(name string, e *entry) string { return fmt.Sprint(name, e.class()) }
	all := slices.DeleteFunc(slices.Collect(m.listed(l)), func(e *entry) bool { return e.label() == "" })
	for _, e := range all {
		known[key(e.label(), e)] = true
	}
	for _, e := range all {
		if !m.item("%s", e.label()) {
			continue
		}
		name := e.label()
		for _, almost := range []string{name[:len(name)-1], name + "x", strings.Map(otherCase, name)} {
			if !known[key(almost, e)] {
				m.expect(m.indexOf(l, almost, e).code.is(binding.ErrInvalidName))
			}
		}
	}
}

func otherCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}
