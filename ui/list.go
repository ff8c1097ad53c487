package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/term"
)

// columns are the widths of the list's columns; 0: not shown.
type columns struct{ name, value, kind, typ int }

func listColumns(width int) columns {
	c := columns{value: min(max(width/5, 8), 40)}
	rest := width - 5 - c.value - 1
	if width >= 64 {
		c.kind = 10
		rest -= c.kind + 1
	}
	if width >= 88 {
		c.typ = 10
		rest -= c.typ + 1
	}
	c.name = max(rest, 1)
	return c
}

// listView is the variables of the branch, or what the search found: only the rows that are on the screen are looked at.
func (m *Model) listView(width, height int) []string {
	c := listColumns(width)
	m.list.view(len(m.shown), height-1)
	head := "     " + m.t.Fit("NAME", c.name) + " " + m.t.Fit("VALUE", c.value)
	if c.kind > 0 {
		head += " " + m.t.Fit("SCOPE", c.kind)
	}
	if c.typ > 0 {
		head += " " + m.t.Fit("TYPE", c.typ)
	}
	lines := []string{m.t.Paint(term.Style{Faint: true}, m.t.Fit(head, width))}
	if len(m.shown) == 0 {
		lines = append(lines, "", "  "+m.nothing())
	}
	for i := m.list.top; i < min(len(m.shown), m.list.top+height-1); i++ {
		lines = append(lines, m.row(&m.x.entries[m.shown[i]], c, width, i == m.list.at))
	}
	return m.block(lines, width, height)
}

// nothing says why the list is empty.
func (m *Model) nothing() string {
	switch {
	case len(m.x.entries) == 0:
		return "this library has no variables"
	case m.query != "":
		return "nothing matches: esc ends the search"
	case filterText(m.criteria) != "":
		return "the filter hides everything here: F ends it"
	}
	return "no variables here"
}

func (m *Model) row(e *entry, c columns, width int, at bool) string {
	marks, color := e.marks(m.t)
	base := term.Style{Color: color}
	if at {
		base = term.Style{Reverse: m.focus != paneTree, Bold: true, Underline: m.focus == paneTree}
	}
	sign := " "
	if at {
		sign = ">"
	}
	rest := " " + m.t.Fit(m.t.SafeLine(m.x.value(e), c.value), c.value)
	if c.kind > 0 {
		rest += " " + m.t.Fit(kindWord(e.v), c.kind)
	}
	if c.typ > 0 {
		rest += " " + m.t.Fit(e.v.Type.String(), c.typ)
	}
	name := m.t.Cut(e.name[:min(len(e.name), 4*c.name)], c.name)
	return m.t.Paint(base, sign+m.t.Fit(marks, 3)+" ") + m.highlight(e, name, base) +
		m.t.Paint(base, strings.Repeat(" ", max(0, c.name-term.Width(name)))+rest)
}

// highlight paints a name that may have been cut, with what the search matched.
func (m *Model) highlight(e *entry, name string, base term.Style) string {
	if m.query == "" {
		return m.t.Paint(base, name)
	}
	marks := hits(e.low, m.query)
	found := base
	found.Bold, found.Underline, found.Color = true, true, term.Match
	var b strings.Builder
	from, on := 0, false
	for i := 0; i <= len(name); i++ {
		hit := i < len(name) && i < len(marks) && marks[i] && i < len(e.name) && name[i] == e.name[i]
		if i == len(name) || hit != on && (name[i] < 0x80 || name[i] >= 0xc0) {
			if i > from {
				b.WriteString(m.t.Paint(map[bool]term.Style{false: base, true: found}[on], name[from:i]))
			}
			from, on = i, hit
		}
	}
	return b.String()
}

func cutLeft(s string, width int) string { return term.Pad(ansi.Truncate(s, width, ""), width) }
func cutRight(s string, from int) string { return ansi.TruncateLeft(s, from, "") }
