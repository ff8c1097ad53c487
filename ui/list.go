package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mpitx/catalog"
	"mpitx/ui/term"
)

// columns are the widths of the list's columns; 0: not shown.
type columns struct{ name, value, kind, typ int }

func listColumns(width int) columns {
	c := columns{value: min(max(width/5, 8), 40)}
	rest := width - 5 - c.value - 1
	if width >= 64 {
		c.kind = 11
		rest -= c.kind + 1
	}
	if width >= 76 {
		c.typ = 11
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
		head += " " + m.t.Fit("SCOPE/CLASS", c.kind)
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
		base = term.Style{Reverse: m.focus == paneList, Bold: true, Underline: m.focus != paneList}
	}
	sign := " "
	if at {
		sign = ">"
	}
	value := m.t.SafeLine(m.x.value(e), c.value)
	if r := e.v.Current(); r != nil && r.Status != catalog.StatusOK && len(value) > c.value {
		value = string(r.Status) // the details say more
	}
	rest := " " + m.t.Fit(value, c.value)
	if c.kind > 0 {
		rest += " " + m.t.Fit(kindWord(e.v), c.kind)
	}
	if c.typ > 0 {
		rest += " " + m.t.Fit(strings.Replace(e.v.Type.String(), "unsigned-", "u-", 1), c.typ)
	}
	head, tail := m.t.CutMiddle(e.name, c.name)
	name := m.highlight(e, 0, head, base)
	used := term.Width(e.name[:head])
	if tail < len(e.name) {
		dots := m.t.Ellipsis()
		name += m.t.Paint(base, dots) + m.highlight(e, tail, len(e.name), base)
		used += term.Width(dots) + term.Width(e.name[tail:])
	}
	return m.t.Paint(base, sign+m.t.Fit(marks, 3)+" ") + name + m.t.Paint(base, strings.Repeat(" ", max(0, c.name-used))+rest)
}

// highlight paints the bytes from start to end of a name, with what the search matched.
func (m *Model) highlight(e *entry, start, end int, base term.Style) string {
	if m.query == "" {
		return m.t.Paint(base, e.name[start:end])
	}
	return m.paintMarks(e.name[start:end], hits(e.low, m.query)[start:end], base)
}

// paintMarks paints text, and what is marked of its bytes so that it stands out.
func (m *Model) paintMarks(s string, marks []bool, base term.Style) string {
	found := base
	found.Bold, found.Underline, found.Color = true, true, term.Match
	var b strings.Builder
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && (marks[to] == marks[from] || s[to]&0xc0 == 0x80) {
			to++
		}
		b.WriteString(m.t.Paint(map[bool]term.Style{false: base, true: found}[marks[from]], s[from:to]))
		from = to
	}
	return b.String()
}

func cutLeft(s string, width int) string { return term.Pad(ansi.Truncate(s, width, ""), width) }
func cutRight(s string, from int) string { return ansi.TruncateLeft(s, from, "") }
