//go:build cgo && linux

package rules

import (
	"fmt"
	"strings"
	"unicode"

	"mpitx/binding"
)

// getIndexUnknown asks for a name that nothing has, for the empty name, and for names that are almost those of a list.
func getIndexUnknown(m *mpi) {
	for _, l := range lists(m) {
		like := &entry{}
		like.pvar.Class = 7
		for _, name := range []string{"mpitx_no_such_name", ""} {
			if !m.item("%s_get_index (name %q)", l.prefix, name) {
				continue
			}
			c, _ := m.indexOf(l, name, like)
			if c.rc == binding.ErrNotProvided {
				m.notApplicable("the library is older than MPI-3.1: it has no %s_get_index", l.prefix)
				return
			}
			m.wants(c, binding.ErrInvalidName)
		}
		m.almostNames(l)
	}
}

// almostNames asks for each name without its last character, with one more, and in the other case, unless that is a name, too.
func (m *mpi) almostNames(l *list) {
	var all []*entry
	known := map[string]bool{}
	key := func(name string, e *entry) string { return fmt.Sprint(name, e.pvar.Class) }
	for k := range m.quietCount(l) {
		e := m.quietly(func() *entry { return m.entry(l, k) })
		if e.ok() && e.label() != "" {
			all = append(all, e)
			known[key(e.label(), e)] = true
		}
	}
	for _, e := range all {
		if !m.item("%s", e.label()) {
			continue
		}
		name := e.label()
		for _, almost := range []string{name[:len(name)-1], name + "x", strings.Map(otherCase, name)} {
			if !known[key(almost, e)] {
				c, _ := m.indexOf(l, almost, e)
				m.wants(c, binding.ErrInvalidName)
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
