package explorer

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/catalog"
	"mpitx/text"
	"mpitx/ui/screen/prompt"
	"mpitx/ui/term"
)

// ExportForms are how settings for the next run are exported: Options.Export takes their numbers.
var ExportForms = []string{"launcher options", "environment script", "parameter file"}

const (
	formOptions = iota
	formScript
	formFile
)

type changesView struct {
	at   scroll
	form int
	open bool
}

// edited is a variable that does not have the value of the session's start.
type edited struct {
	e     *entry
	old   map[int]string // by rank
	ranks []int          // of old, in order
}

// edits are the variables that the user has written, in the order of the first write, without those that have their old values again.
func (m *Model) edits() []edited {
	var all []edited
	for _, c := range m.edit.undo {
		e := m.x.entry(c.name)
		if e == nil {
			continue
		}
		i := slices.IndexFunc(all, func(d edited) bool { return d.e == e })
		if i < 0 {
			i = len(all)
			all = append(all, edited{e: e, old: map[int]string{}})
		}
		for rank, text := range c.old {
			if _, ok := all[i].old[rank]; !ok {
				all[i].old[rank] = text
			}
		}
	}
	for i := range all {
		d := &all[i]
		maps.DeleteFunc(d.old, func(rank int, old string) bool { return m.textOn(d.e, rank) == old })
		d.ranks = slices.Sorted(maps.Keys(d.old))
	}
	return slices.DeleteFunc(all, func(d edited) bool { return len(d.old) == 0 })
}

// textOn is the value of a variable on a rank; "": not known.
func (m *Model) textOn(e *entry, rank int) string {
	if r := known(e.v, rank); r != nil && r.Status == catalog.StatusOK {
		return r.Value.String()
	}
	return ""
}

// changeRow is a row of the table of changes: a variable that the user has written, or that is set for the next run.
type changeRow struct {
	name          string
	before, after string // values
	where         string
	edit          *edited // what the user has written; nil: it is for the next run only
	neededBy      []string
	left          bool // the library does not take it
}

// changeList are the rows of the table of changes, in the order in which they are set.
func (m *Model) changeList() (rows []changeRow) {
	edits := m.edits()
	for i := range m.staging.plan {
		s := &m.staging.plan[i]
		row := changeRow{name: s.V.Name, after: m.valueLine(s.V, s.Value), where: "next run", neededBy: s.NeededBy}
		if r := s.V.Current(); r != nil && r.Status == catalog.StatusOK {
			row.before = m.valueLine(s.V, r.Value)
		}
		at := slices.IndexFunc(edits, func(d edited) bool { return d.e.v.Name == s.V.Name })
		if at >= 0 {
			row.before, _ = m.sides(&edits[at])
		}
		if s.NeededBy != nil {
			row.where = "next run, needed by " + strings.Join(s.NeededBy, ", ")
		} else if at >= 0 && m.stagedAt(s.V.Name) < 0 {
			row.edit, row.where = &edits[at], text.Ranks(edits[at].ranks)
			row.before, row.after = m.sides(row.edit)
		}
		rows = append(rows, row)
	}
	for _, words := range m.staging.left {
		name, _, _ := strings.Cut(words, ": ")
		at := m.stagedAt(name)
		rows = append(rows, changeRow{name: name, before: "-", after: m.Terminal.SafeLine(m.staging.own[at].text, 80), where: "not in this library", left: true})
	}
	return rows
}

func (m *Model) valueLine(v *catalog.Variable, value catalog.Value) string {
	return m.Terminal.SafeLine(value.Format(m.enum(v)), 80)
}

func (m *Model) openChanges() {
	if len(m.changeList()) == 0 {
		m.note("no changes: e edits a control variable")
		return
	}
	m.changes.open, m.changes.at = true, scroll{}
	m.mode = modeChanges
}

func (m *Model) closeChanges() { m.mode, m.changes.open = modeNormal, false }

func (m *Model) turnForm(by int) {
	m.changes.form = (m.changes.form + by + len(ExportForms)) % len(ExportForms)
}

func (m *Model) beginExport() {
	name := ""
	if m.changes.open {
		name = [...]string{"options.txt", "settings.sh", "mca-params.conf"}[m.changes.form]
	}
	m.Begin("export " + name)()
	if name == "" {
		m.Offers = []string{"FILE.csv", "FILE.json", "FILE.ndjson"}
	}
}

// changeRows is the height of the table of changes, with its head and the line of forms.
func (m *Model) changeRows(height int) int {
	return min(max(len(m.changeList()), 1)+2, max(height/2, 4))
}

// change is the chosen one; nil: there is none.
func (m *Model) change() *changeRow {
	all := m.changeList()
	m.changes.at.clamp(len(all))
	if len(all) == 0 {
		return nil
	}
	return &all[m.changes.at.at]
}

func (m *Model) undoChange() tea.Cmd {
	d := m.change()
	switch {
	case d == nil:
	case d.neededBy != nil:
		m.note("%s needs %s: u there takes both back, e sets it to another value", strings.Join(d.neededBy, ", "), d.name)
	case d.edit == nil:
		m.unstage(d.name)
		m.say("%s is not set for the next run", m.Terminal.SafeLine(d.name, 200))
	case m.alive():
		m.edit.undo = slices.DeleteFunc(m.edit.undo, func(c change) bool { return c.name == d.name })
		return m.revert(change{d.name, d.edit.old})
	}
	return nil
}

func (m *Model) toChange() {
	d := m.change()
	if d == nil {
		return
	}
	if m.x.entry(d.name) == nil {
		m.note("this library has no %s", d.name)
		return
	}
	m.closeChanges()
	m.leave()
	m.reveal(d.name)
	m.focus = paneList
}

// exported is what the view exports in a form, and what it leaves out.
func (m *Model) exported(form int) (words string, left []string, err error) {
	switch {
	case m.o.Export == nil:
		return "", nil, fmt.Errorf("no way is known to set variables of this MPI")
	case len(m.staging.plan) == 0:
		return "", nil, fmt.Errorf("nothing is set for the next run: %s", cmp.Or(strings.Join(m.staging.left, "; "), "e sets a variable"))
	}
	words, left, err = m.o.Export(m.staging.base, m.staging.plan, form)
	for _, why := range m.staging.left {
		if left = append(left, why); form != formOptions && err == nil {
			words += "# not set: " + m.Terminal.SafeLine(why, maxMessage) + "\n"
		}
	}
	return words, left, err
}

func (m *Model) copyChanges() tea.Cmd {
	text, left, err := m.exported(m.changes.form)
	if err != nil {
		m.showError("%v", err)
		return nil
	}
	cmd := m.toClipboard(strings.TrimSuffix(text, "\n"))
	if n := m.useless(); len(left) > 0 || n != "" {
		m.say("%s%s%s", m.Note, leftOut(left), n)
	}
	return cmd
}

// useless names the changes that have no effect as things are; "": none.
func (m *Model) useless() string {
	var names []string
	for _, s := range m.staging.plan {
		if len(s.Doubts) > 0 {
			names = append(names, s.V.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "; no effect now: " + strings.Join(names, ", ")
}

func leftOut(left []string) string {
	if len(left) == 0 {
		return ""
	}
	return " without " + strings.Join(left, "; ")
}

// saveChanges writes the export to a file: .sh is a script, .conf a parameter file, another name has the form that is shown.
func (m *Model) saveChanges(command, path string) tea.Cmd {
	form := m.changes.form
	switch filepath.Ext(path) {
	case ".sh":
		form = formScript
	case ".conf":
		form = formFile
	}
	text, left, err := m.exported(form)
	switch {
	case path == "":
		m.showError("export: a file's name is missing: :export FILE.sh or FILE.conf")
		return nil
	case err != nil:
		m.showError("export: %v", err)
		return nil
	}
	return prompt.Save(command, path, "the "+ExportForms[form]+leftOut(left)+m.useless(), []byte(text))
}

func (m *Model) changesFrame(width, height int) []string {
	all := m.changeList()
	n := len(all)
	top := m.changeRows(height)
	m.changes.at.view(n, top-2)
	nameW := 4
	for _, d := range all {
		nameW = max(nameW, term.Width(m.Terminal.SafeLine(d.name, width)))
	}
	valueW := min(max((width-12)/4, 8), 24)
	nameW = min(nameW, max(width-2*valueW-14, 8))
	cells := func(name, before, after, where string) string {
		return m.Terminal.FitMiddle(name, nameW) + "  " + m.Terminal.Fit(before, valueW) + "  " + m.Terminal.Fit(after, valueW) + "  " + where
	}
	lines := []string{m.Terminal.Paint(term.Columns, m.Terminal.Fit("  "+cells("NAME", "BEFORE", "CHANGED TO", "WHERE"), width))}
	for i := m.changes.at.top; i < min(n, m.changes.at.top+top-2); i++ {
		d := &all[i]
		sign, style := m.changes.at.chosen(i)
		row := cells(m.Terminal.SafeLine(d.name, width), d.before, d.after, m.Terminal.SafeLine(d.where, width))
		if d.left && i != m.changes.at.at {
			style = term.Attention
		}
		lines = append(lines, m.Terminal.Paint(style, m.Terminal.Fit(sign+row, width)))
	}
	if n == 0 {
		lines = append(lines, "  all changes are undone; Esc goes back")
	}
	lines = m.block(lines, width, min(top, height))
	lines = append(lines[:len(lines)-1], m.forms(width))
	return m.block(append(lines, m.preview(width)...), width, height)
}

// sides are the values of a change before and now, each once if ranks differ.
func (m *Model) sides(d *edited) (before, now string) {
	var old, is []string
	enum := m.enum(d.e.v)
	for _, r := range d.ranks {
		if s := named(enum, d.old[r]); !slices.Contains(old, s) {
			old = append(old, s)
		}
		if s := named(enum, m.textOn(d.e, r)); !slices.Contains(is, s) {
			is = append(is, s)
		}
	}
	line := func(all []string) string { return m.Terminal.SafeLine(strings.Join(all, ", "), 80) }
	return line(old), line(is)
}

// named is a value as the user sees it: the name of an enumeration's item.
func named(e *catalog.Enum, text string) string {
	if e != nil {
		for _, it := range e.Items {
			if fmt.Sprint(it.Value) == text {
				return it.Name
			}
		}
	}
	return text
}

func (m *Model) forms(width int) string {
	line := " "
	if width < 64 {
		return m.Terminal.Fit("  "+m.Terminal.Paint(term.Cursor, "["+ExportForms[m.changes.form]+"]")+fmt.Sprintf("  %d of %d", m.changes.form+1, len(ExportForms)), width)
	}
	for i, f := range ExportForms {
		if i == m.changes.form {
			line += " " + m.Terminal.Paint(term.Cursor, "["+f+"]")
		} else {
			line += " " + m.Terminal.Paint(term.Label, " "+f+" ")
		}
	}
	return m.Terminal.Fit(line, width)
}

func (m *Model) preview(width int) []string {
	if len(m.changeList()) == 0 {
		return nil
	}
	text, left, err := m.exported(m.changes.form)
	if err != nil {
		return append([]string{""}, m.inLines(m.Terminal.SafeText(err.Error()), width, term.Plain)...)
	}
	lines := []string{""}
	for _, s := range m.staging.plan {
		for _, w := range s.Doubts {
			lines = append(lines, m.wrapped(w, width, term.Attention)...)
		}
	}
	for l := range strings.Lines(text) {
		lines = append(lines, m.inLines(m.Terminal.SafeCommand(strings.TrimSuffix(l, "\n")), width, term.Plain)...)
	}
	if m.changes.form == formOptions {
		for _, l := range left {
			lines = append(lines, m.wrapped("left out: "+l, width, term.Label)...)
		}
	}
	return lines
}
