package explorer

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"mpitx/catalog"
	"mpitx/catalog/diff"
	"mpitx/text"
	"mpitx/ui/term"
)

// offline says what an explorer without a back end shows, and how to start one with a back end.
func (m *Model) offline() string {
	if m.o.Diff != nil {
		return "a difference; start mpitx tui without --diff"
	}
	return "a snapshot; start mpitx tui without --from"
}

func (m *Model) arrow() string { return map[bool]string{true: "→", false: "->"}[m.Terminal.UTF8] }

// sideNames are the names of both sides, as much as tells them apart in a width: without the directories that both share, and if that
// is too long, without any, without their middle, or from where they differ.
func (m *Model) sideNames(width int) (names [2]string) {
	for i, s := range m.o.Diff.Sides {
		names[i] = m.Terminal.SafeLine(s.Name, 4096)
	}
	shared := 0
	for i := 0; i < min(len(names[0]), len(names[1])) && names[0][i] == names[1][i]; i++ {
		if names[0][i] == '/' {
			shared = i + 1
		}
	}
	bases := [2]string{path.Base(names[0]), path.Base(names[1])}
	for i, name := range names {
		if name = name[shared:]; term.Width(name) > width && bases[0] != bases[1] {
			name = bases[i]
		}
		names[i] = name
	}
	middle := names
	for i, name := range names {
		middle[i] = strings.TrimRight(m.Terminal.FitMiddle(name, width), " ")
	}
	if middle[0] != middle[1] || names[0] == names[1] {
		return middle
	}
	if ext := path.Ext(names[0]); ext != names[0] && ext == path.Ext(names[1]) {
		names[0], names[1] = strings.TrimSuffix(names[0], ext), strings.TrimSuffix(names[1], ext)
	}
	names[0], names[1] = m.Terminal.Apart(names[0], names[1], width)
	return names
}

func (m *Model) libraryChanges() (all []string) {
	for _, f := range m.o.Diff.Library {
		all = append(all, diff.LibraryChange(f, m.arrow()))
	}
	return all
}

// libraryWords say in the second line what differs between the libraries, and how many notes there are.
func (m *Model) libraryWords() string {
	var parts []string
	if n := len(m.o.Diff.Notes); n > 0 {
		parts = append(parts, text.Count(n, "note")+": L")
	}
	parts = append(parts, m.libraryChanges()...)
	return m.Terminal.SafeLine(strings.Join(parts, "; "), m.Width)
}

// diffTitle counts the changes for the title, with as many words as fit into a width.
func (m *Model) diffTitle(width int) string {
	d := m.o.Diff
	words := "  " + text.Count(len(d.Items), "difference")
	long := words
	for _, c := range diff.Changes {
		if n := d.Count(string(c)); n > 0 {
			long += fmt.Sprintf("  %d %s", n, c)
		}
	}
	if term.Width(long)+1 <= width {
		words = long
	}
	return words + " "
}

// pair says what differs, and its value on each side: of the field that the filter selects, or else of the most important one.
func (m *Model) pair(it *diff.Item) (what, a, b string) {
	for _, c := range m.criteria {
		if c.name != "change" || c.now == 0 {
			continue
		}
		if i := slices.IndexFunc(it.Fields, func(f diff.Field) bool { return f.Name == c.values[c.now] }); i >= 0 {
			return sides(it.Fields[i])
		}
	}
	switch it.Change {
	case diff.Appeared:
		return string(it.Change), "", itemValue(it)
	case diff.Vanished:
		return string(it.Change), itemValue(it), ""
	case diff.Renamed:
		return string(it.Change), it.Name, it.NewName
	}
	what, a, b = sides(it.Fields[0])
	if more := len(it.Fields) - 1; more > 0 {
		what += fmt.Sprintf(" +%d", more)
	}
	return what, a, b
}

// itemValue is the value of a control variable that one side has; of other entries, that they exist.
func itemValue(it *diff.Item) string {
	if it.HasValue() {
		return diff.ValueText(it.Value)
	}
	return "exists"
}

// sides are the name of a field and its values.
func sides(f diff.Field) (name, a, b string) {
	if diff.IsList(f.Name) || f.Name == "synonym" { // nothing that the other side lacks
		return f.Name, f.A, f.B
	}
	a, b, _ = f.Apart()
	return f.Name, diff.ValueText(a), diff.ValueText(b)
}

const (
	whatWidth  = 11 // cells of what differs, at most
	goodSide   = 16 // of the value of a side before names get more than half
	maxSide    = 40
	sidesWidth = 46 // of a list that shows the values
)

type diffRow struct{ what, a, b string }

// diffColumns has the widths of the columns. The widths of a and b are 0 if the values do not fit.
type diffColumns struct{ name, what, a, b int }

// newDiffColumns divides the width of a list by what the rows in sight need.
func newDiffColumns(width int, need diffColumns) diffColumns {
	c := need
	c.what = min(c.what, whatWidth)
	rest := max(width-marksWidth-1-c.what, 1)
	if width < sidesWidth {
		return diffColumns{name: rest, what: c.what}
	}
	rest -= 2 // before the values
	c.a, c.b = min(c.a, maxSide), min(c.b, maxSide)
	c.name = min(c.name, max(rest-min(c.a, goodSide)-min(c.b, goodSide), rest/2))
	room := max(rest-c.name, 2)
	switch half := room / 2; {
	case c.a+c.b <= room:
		c.name = min(need.name, c.name+room-c.a-c.b)
	case c.a <= half:
		c.b = room - c.a
	case c.b <= half:
		c.a = room - c.b
	default:
		c.a, c.b = room-half, half
	}
	return c
}

// diffNeed is the width that rows need: whole names and values.
func (m *Model) diffNeed(rows []int32, pairs []diffRow) diffColumns {
	c := diffColumns{name: 4, what: 4, a: 1, b: 1}
	for i, k := range rows {
		c.name, c.what = max(c.name, int(m.x.entries[k].width)), max(c.what, term.Width(pairs[i].what))
		if pairs[i].what != string(diff.Renamed) { // which has both columns for the new name
			c.a, c.b = max(c.a, term.Width(pairs[i].a)), max(c.b, term.Width(pairs[i].b))
		} else if n := term.Width(pairs[i].b); n > c.a+1+c.b {
			c.a = n - 1 - c.b
		}
	}
	return c
}

// diffRows are the rows of items, without the remarks on values if they do not fit.
func (m *Model) diffRows(rows []int32, width int) ([]diffRow, diffColumns) {
	pairs := make([]diffRow, len(rows))
	for i, k := range rows {
		what, a, b := m.pair(m.x.entries[k].change)
		pairs[i] = diffRow{what, m.Terminal.SafeLine(a, maxMessage), m.Terminal.SafeLine(b, maxMessage)}
	}
	need := m.diffNeed(rows, pairs)
	c := newDiffColumns(width, need)
	if c.name >= need.name && c.a >= need.a && c.b >= need.b || c.a == 0 {
		return pairs, c
	}
	for i := range pairs {
		for _, side := range []*string{&pairs[i].a, &pairs[i].b} { // the details have them
			if value, remark, found := strings.Cut(*side, " (set in "); found && strings.HasSuffix(remark, ")") {
				*side = value
			}
		}
	}
	return pairs, newDiffColumns(width, m.diffNeed(rows, pairs))
}

func (m *Model) diffView(width, height int) []string {
	m.list.view(len(m.shown), height-1)
	rows := m.shown[m.list.top:min(len(m.shown), m.list.top+height-1)]
	pairs, c := m.diffRows(rows, width)
	line := func(r diffRow) string {
		text := " " + m.Terminal.Fit(r.what, c.what)
		if c.a > 0 {
			if r.what == string(diff.Renamed) { // the old name is in the list
				return text + " " + m.Terminal.FitMiddle(r.b, c.a+1+c.b)
			}
			a, _ := m.Terminal.Apart(r.a, r.b, c.a)
			_, b := m.Terminal.Apart(r.a, r.b, c.b)
			text += " " + m.Terminal.Fit(a, c.a) + " " + m.Terminal.Fit(b, c.b)
		}
		return text
	}
	head := strings.Repeat(" ", marksWidth) + m.Terminal.Fit("NAME", c.name) + line(diffRow{"WHAT", "A", "B"})
	lines := []string{m.Terminal.Paint(term.Columns, m.Terminal.Fit(head, width))}
	if len(m.shown) == 0 {
		lines = append(lines, "", "  "+m.nothing())
	}
	cuts := m.cutNames(rows, c.name)
	for i, k := range rows {
		e, sign := &m.x.entries[k], " "
		base := term.Style{Color: changeColors[e.change.Change]}
		if m.list.top+i == m.list.at {
			base, sign = term.Chosen(m.focus == paneList), ">"
		}
		marks := ""
		if e.bookmarked {
			marks, _ = (&entry{v: &catalog.Variable{}, bookmarked: true}).marks(m.Terminal)
		}
		rest := m.Terminal.Cut(line(pairs[i]), width-marksWidth-c.name)
		lines = append(lines, m.paintRow(e, sign+m.Terminal.Fit(marks, 3)+" ", cuts[i], c.name, term.Pad(rest, width-marksWidth-c.name), base))
	}
	return m.block(lines, width, height)
}

var changeColors = map[diff.Change]term.Color{diff.Appeared: term.Good, diff.Vanished: term.Bad, diff.Renamed: term.Accent}

// leastWeight is the lowest weight at which a change may matter for speed.
const leastWeight = 10

// diffLines are the details of an item: why it matters, and every attribute of both sides.
func (m *Model) diffLines(it *diff.Item, width int) []string {
	d := m.o.Diff
	head := string(it.Change) + " " + it.Kind.Info().Name
	if it.Change == diff.Renamed {
		head += fmt.Sprintf(", %.0f %% likely", 100*it.Confidence)
	}
	if len(it.Fields) > 0 && it.Change != diff.Appeared && it.Change != diff.Vanished {
		names := make([]string, len(it.Fields))
		for i, f := range it.Fields {
			names[i] = f.Name
		}
		head += ": " + strings.Join(names, ", ")
	}
	lines := m.wrapped(head, width, term.Label)
	switch {
	case it.Weight >= leastWeight:
		lines = append(lines, m.wrapped("matters because: "+it.Reason, width, term.Attention)...)
	case it.Reason != "":
		lines = append(lines, m.wrapped(it.Reason, width, term.Label)...)
	}
	const label, least = 12, 50
	columns := max((width-2-label-1)/2, 1)
	row := func(name, a, b string, style, left term.Style) {
		x, y := term.Wrap(m.Terminal.SafeText(a), columns), term.Wrap(m.Terminal.SafeText(b), columns)
		for i := range max(len(x), len(y)) {
			var s, t string
			if i < len(x) {
				s = x[i]
			}
			if i < len(y) {
				t = y[i]
			}
			lines = append(lines, " "+m.Terminal.Paint(left, m.Terminal.Fit(name, label))+m.Terminal.Paint(style, strings.TrimRight(m.Terminal.Fit(s, columns)+" "+t, " ")))
			name = ""
		}
	}
	stacked := func(name, text string) {
		lines = append(lines, m.wrapped(name+"  "+text, width, term.Plain)...)
	}
	lines = append(lines, "")
	if width >= least {
		names := m.sideNames(columns - 2)
		row("", "A "+names[0], "B "+names[1], term.Columns, term.Columns)
	}
	for _, a := range d.Attributes(it) {
		text := cmp.Or(a.A, a.B)
		both := it.A != nil && it.B != nil
		switch {
		case text == "":
		case both && !a.Differs && width >= least:
			for i, l := range term.Wrap(m.Terminal.SafeText(text), max(width-2-label, 1)) {
				lines = append(lines, " "+m.Terminal.Paint(term.Label, m.Terminal.Fit(map[bool]string{true: a.Name}[i == 0], label))+m.Terminal.Paint(term.Label, strings.TrimRight(l, " ")))
			}
		case both && !a.Differs:
			stacked(a.Name, text)
		case width >= least:
			x, y := a.A, a.B
			if both {
				x, y = diff.ValueText(x), diff.ValueText(y)
			}
			row(a.Name, x, y, term.Plain, term.Columns)
		default:
			if it.A != nil {
				stacked(a.Name+" A", diff.ValueText(a.A))
			}
			if it.B != nil {
				stacked(a.Name+" B", diff.ValueText(a.B))
			}
		}
	}
	return lines
}

func (m *Model) listedDiff() *diff.Diff {
	some := *m.o.Diff
	some.Items = make([]diff.Item, len(m.shown))
	for i, k := range m.shown {
		some.Items[i] = *m.x.entries[k].change
	}
	if len(m.shown) < len(m.x.all) {
		some.Library = nil
	}
	return &some
}
