package explorer

import (
	"strings"

	"mpitx/catalog"
	"mpitx/ui/term"
)

// columns are the widths of the list's columns; 0: not shown.
type columns struct{ name, value, kind, typ, purpose int }

const (
	marksWidth   = 5  // the cursor and the marks
	minValue     = 8  // cells of the value, at least
	goodValue    = 16 // cells of the value before scope and type get any
	niceValue    = 24 // cells of the value before very long names get more
	wordWidth    = 11 // of a scope, a class or a type
	purposeWidth = 24
	maxClaim     = 64 // a longer name does not take the place of other columns
)

// nameWidths are the cells of the longest name: of names up to maxClaim, and of all names.
type nameWidths struct{ claim, longest int }

func (n *nameWidths) add(width int) {
	n.longest = max(n.longest, width)
	if width <= maxClaim {
		n.claim = max(n.claim, width)
	}
}

// listColumns divides the width of a list. Names get their cells first, since names that are cut may look the same.
func listColumns(width int, names nameWidths) columns {
	claim := max(names.claim, min(names.longest, 24))
	c := columns{name: max(1, min(claim, width-marksWidth-1-minValue))}
	rest := max(0, width-marksWidth-c.name-1)
	for _, w := range []*int{&c.kind, &c.typ} {
		if rest >= goodValue+1+wordWidth {
			*w = wordWidth
			rest -= 1 + wordWidth
		}
	}
	more := min(max(0, rest-niceValue), max(0, names.longest-c.name))
	c.name += more
	c.value = min(rest-more, 60)
	return c
}

// purposes shows purposes instead of scopes and types.
func (c columns) purposes() columns {
	if c.kind > 0 {
		c.purpose, c.kind = c.kind, 0
		if c.typ > 0 {
			c.purpose, c.typ = c.purpose+1+c.typ, 0
		}
		if more := min(purposeWidth-c.purpose, c.value-goodValue); more > 0 {
			c.purpose, c.value = c.purpose+more, c.value-more
		}
	}
	return c
}

func (c columns) cells(t term.Term, value, kind, typ, purpose string) string {
	line := " " + t.Fit(value, c.value)
	for _, cell := range []struct {
		width int
		text  string
	}{{c.kind, kind}, {c.typ, typ}, {c.purpose, purpose}} {
		if cell.width > 0 {
			line += " " + t.Fit(cell.text, cell.width)
		}
	}
	return line
}

// fullWidth is the width of a list that shows all columns of a catalog.
func fullWidth(x *index) int {
	names := 24
	if x != nil {
		names = max(x.names.claim, names)
	}
	return marksWidth + names + 1 + goodValue + 4 + 2*(1+wordWidth)
}

// nameWidths measures the listed variables, or all variables while a search is typed, so that the columns stay in place.
func (m *Model) nameWidths() nameWidths {
	if m.mode == modeSearch || len(m.shown) == len(m.x.all) || len(m.shown) == 0 {
		return m.x.names
	}
	var names nameWidths
	for _, k := range m.shown {
		names.add(int(m.x.entries[k].width))
	}
	return names
}

// listView draws the variables of the branch or the search. It only visits the rows on the screen.
func (m *Model) listView(width, height int) []string {
	if m.o.Diff != nil {
		return m.diffView(width, height)
	}
	c := listColumns(width, m.names)
	if m.byPurpose() {
		c = c.purposes()
	}
	m.list.view(len(m.shown), height-1)
	head := "     " + m.Terminal.Fit("NAME", c.name) + c.cells(m.Terminal, "VALUE", "SCOPE/CLASS", "TYPE", "PURPOSE")
	lines := []string{m.Terminal.Paint(term.Columns, m.Terminal.Fit(head, width))}
	if len(m.shown) == 0 {
		lines = append(lines, "", "  "+m.nothing())
	}
	rows := m.shown[m.list.top:min(len(m.shown), m.list.top+height-1)]
	cuts := m.cutNames(rows, c.name)
	for i, k := range rows {
		lines = append(lines, m.row(&m.x.entries[k], c, cuts[i], width, m.list.top+i == m.list.at))
	}
	return m.block(lines, width, height)
}

func (m *Model) nothing() string {
	switch {
	case m.o.Diff != nil && len(m.x.entries) == 0:
		return "A and B do not differ"
	case len(m.x.entries) == 0:
		return "this library has no variables"
	case m.query != "" && filterText(m.criteria) != "":
		return "nothing matches with this filter: F clears it, Esc ends the search"
	case m.query != "":
		return "nothing matches: Esc ends the search"
	case filterText(m.criteria) != "":
		return "the filter hides everything here: F clears it"
	}
	if m.o.Diff != nil {
		return "no differences here"
	}
	return "no variables here"
}

// cut says which parts of a name fit: name[:head] and name[tail:end], with ellipses.
type cut struct{ head, tail, end int }

func (m *Model) look(name string, c cut) string {
	if c.tail >= len(name) && c.head >= len(name) {
		return name
	}
	look := name[:c.head] + m.Terminal.Ellipsis() + name[c.tail:c.end]
	if c.end > c.tail && c.end < len(name) {
		look += m.Terminal.Ellipsis()
	}
	return look
}

// cutNames cuts the names of rows to a width so that different names look different, if that is possible.
func (m *Model) cutNames(rows []int32, width int) []cut {
	cuts := make([]cut, len(rows))
	alike := map[string][]string{}
	for i, k := range rows {
		name := m.x.entries[k].name
		head, tail := m.Terminal.CutMiddle(name, width)
		cuts[i] = cut{head, tail, len(name)}
		look := m.look(name, cuts[i])
		alike[look] = append(alike[look], name)
	}
	taken := map[string]bool{}
	for look, names := range alike {
		taken[look] = len(names) == 1
	}
	for i, k := range rows {
		name := m.x.entries[k].name
		same := alike[m.look(name, cuts[i])]
		if len(same) < 2 {
			continue
		}
		at := len(same[0])
		for _, other := range same {
			at = min(at, shared(same[0], other))
		}
		for _, c := range m.otherCuts(name, at, width) {
			if look := m.look(name, c); !taken[look] {
				cuts[i], taken[look] = c, true
				break
			}
		}
	}
	return cuts
}

// otherCuts are further ways to cut a name whose beginning and end others share: without its end, or with the part after byte at, where
// it differs. Names with other characters than ASCII have none.
func (m *Model) otherCuts(name string, at, width int) []cut {
	const minHead = 4
	dots := term.Width(m.Terminal.Ellipsis())
	if strings.IndexFunc(name, func(r rune) bool { return r >= 0x7f }) >= 0 || width < minHead+2*dots+8 || len(name) <= width {
		return nil
	}
	end := cut{width - dots, len(name), len(name)}
	start := strings.LastIndexByte(name[:at], '_') + 1
	if start < minHead || at-start > 8 {
		start = max(at-1, minHead)
	}
	if rest := len(name) - start; rest <= width-minHead-dots {
		return []cut{end, {width - dots - rest, start, len(name)}}
	}
	return []cut{end, {minHead, start, start + width - minHead - 2*dots}, {0, len(name) - width + dots, len(name)}}
}

// shownValue is a variable's present value for the list. A failed read is in parentheses, since a value may be the word "error".
func (m *Model) shownValue(e *entry, width int) string {
	r := e.v.Current()
	text := m.x.value(e)
	if r == nil || r.Status == catalog.StatusOK {
		return m.Terminal.SafeLine(text, width)
	}
	if len(text)+2 > width {
		text = string(r.Status) // the details show the reason
	}
	return "(" + m.Terminal.Cut(m.Terminal.SafeLine(text, width), max(width-2, 1)) + ")"
}

func (m *Model) row(e *entry, c columns, cut cut, width int, at bool) string {
	marks, color := e.marks(m.Terminal)
	base := term.Style{Color: color}
	if at {
		base = term.Chosen(m.focus == paneList)
	}
	sign := " "
	if at {
		sign = ">"
	}
	purpose := ""
	if e.essential != nil {
		purpose = e.essential.Purpose
	}
	rest := c.cells(m.Terminal, m.shownValue(e, c.value), kindWord(e.v), strings.Replace(e.v.Type.String(), "unsigned-", "u-", 1), purpose)
	return m.paintRow(e, sign+m.Terminal.Fit(marks, 3)+" ", cut, c.name, term.Pad(rest, width-marksWidth-c.name), base)
}

// paintRow paints a row of the list: marks, what a cut leaves of the name in width cells, and the rest.
func (m *Model) paintRow(e *entry, marks string, cut cut, width int, rest string, base term.Style) string {
	name := m.highlight(e, 0, cut.head, base)
	used := term.Width(e.name[:cut.head])
	if dots := m.Terminal.Ellipsis(); cut.head < len(e.name) {
		name += m.Terminal.Paint(base, dots) + m.highlight(e, cut.tail, cut.end, base)
		used += term.Width(dots) + term.Width(e.name[cut.tail:cut.end])
		if cut.end < len(e.name) {
			name += m.Terminal.Paint(base, dots)
			used += term.Width(dots)
		}
	}
	return m.Terminal.Paint(base, marks) + name + m.Terminal.Paint(base, strings.Repeat(" ", max(0, width-used))+rest)
}

func (m *Model) highlight(e *entry, start, end int, base term.Style) string {
	if m.query == "" {
		return m.Terminal.Paint(base, e.name[start:end])
	}
	return m.paintMarks(e.name[start:end], e.hits(m.terms())[start:end], base)
}

func (m *Model) paintMarks(s string, marks []bool, base term.Style) string {
	var b strings.Builder
	for from := 0; from < len(s); {
		to := from + 1
		for to < len(s) && (marks[to] == marks[from] || s[to]&0xc0 == 0x80) {
			to++
		}
		b.WriteString(m.Terminal.Paint(map[bool]term.Style{false: base, true: base.Found()}[marks[from]], s[from:to]))
		from = to
	}
	return b.String()
}
