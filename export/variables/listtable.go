package variables

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mpitx/catalog"
	"mpitx/export"

	"charm.land/lipgloss/v2"
)

// tableField is a field as a column of a table.
type tableField struct {
	field *Field
	export.Column
	text func(*catalog.Variable) string // instead of the field's; nil: that
}

// The columns of variables, by importance.
var (
	nameColumn     = export.Column{Flex: true, Soft: 64}
	valueColumn    = export.Column{Flex: true, Floor: 14, Soft: 28}
	categoryColumn = export.Column{Flex: true, Floor: 12}
	typeColumn     = export.Column{Flex: true, Floor: 8}
	anyColumn      = export.Column{Flex: true, Floor: 10, Soft: 32}
)

var standsInForMark = map[string]bool{"set": true, "differs": true, "conflicts": true}

func tableFields(names string) []tableField {
	var l []tableField
	for _, f := range mustFields(names) {
		c := export.Column{}
		switch f.Name {
		case "name":
			c = nameColumn
		case "value":
			c = valueColumn
		case "type", "class":
			c = typeColumn
		case "description":
			c = export.Column{Flex: true, Floor: 16}
		case "category":
			c = categoryColumn
		}
		c.Header = f.Header
		l = append(l, tableField{field: f, Column: c})
	}
	return l
}

// chosen returns the columns of a --fields flag, which are all shown.
func chosen(fields []*Field) []tableField {
	l := make([]tableField, len(fields))
	for i, f := range fields {
		l[i] = tableField{field: f, Column: anyColumn}
		l[i].Header = f.Header
	}
	return l
}

// listTable writes a section with a heading and a table for each kind.
func listTable(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	t := opts.Terminal
	if opts.Format == export.FormatWide {
		t.Width = 0
	}
	s := sections{w: w, term: t, opts: opts, shown: make([]bool, len(marks))}
	for k := range opts.Kinds.Table() {
		if c.Count(k.Kind) == 0 {
			continue
		}
		write := s.others
		switch {
		case k.Kind&catalog.Variables != 0:
			write = s.variables
		case k.Kind == catalog.Events && opts.Fields == nil:
			write = s.events
		}
		if err := write(c, k); err != nil {
			return err
		}
	}
	if !t.IsTTY {
		return nil
	}
	for i, line := range legend(t, s.shown) {
		line = t.Paint(export.LabelStyle, t.Cut(line, t.Width)) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// sections writes tables one after another.
type sections struct {
	w     io.Writer
	term  export.Terminal
	opts  ListOptions
	n     int    // sections written
	shown []bool // marks used

	titled bool // a kind has a second table
}

// heading writes a heading if the output is a terminal or has several tables.
func (s *sections) heading(title string, n int, more string) error {
	before := ""
	if s.n++; s.n > 1 {
		before = "\n"
	}
	if !s.term.IsTTY && s.opts.Kinds.Single() && !s.titled {
		return nil
	}
	count := strconv.Itoa(n)
	if s.opts.Filtered {
		count += " matching"
	}
	if more != "" {
		count += "; " + more
	}
	line := export.Lines(title+" ("+count+")", s.term.Width)
	for i := range line {
		line[i] = s.term.Paint(export.HeadingStyle, line[i])
	}
	_, err := io.WriteString(s.w, before+strings.Join(line, "\n")+"\n")
	return err
}

func (s *sections) variables(c *catalog.Catalog, k *catalog.KindInfo) error {
	vars := *c.VariableList(k.Kind)
	m := markAll(s.term, vars, c.After.Read)
	if err := s.heading(k.Title, len(vars), joinNonempty("; ", m.summary(), writableSummary(vars))); err != nil {
		return err
	}
	columns := views[k.Kind].table
	switch {
	case s.opts.Fields != nil:
		columns = chosen(s.opts.Fields)
	case s.opts.Format == export.FormatWide:
		columns = views[k.Kind].wide
	}
	withMarks := s.opts.Fields == nil && s.term.IsTTY
	if s.opts.Fields == nil {
		columns = slices.DeleteFunc(slices.Clone(columns), func(col tableField) bool {
			// In a pipe, empty columns are kept, except those that replace marks.
			return (withMarks || standsInForMark[col.field.Name]) && blank(col.field, c, vars)
		})
	}
	g := export.Grid{Must: len(columns)}
	if s.opts.Fields == nil {
		g.Must = 2
		columns = s.setFirst(&g, columns, c, vars)
	}
	for i, col := range columns {
		if i == 1 && withMarks && m.any() {
			g.Cols = append(g.Cols, export.Column{})
			g.Must++
		}
		switch {
		case s.opts.Fields != nil:
		case col.field.Name == "name":
			col.Floor = max(col.Floor, s.term.Width/2)
		case s.term.Width >= 100 && col.field.Name != "set":
			col.Floor = max(col.Floor, 20) // drop columns before cutting types
		}
		g.Cols = append(g.Cols, col.Column)
	}
	g.Rows = make([][]string, len(vars))
	cells := make([]string, len(vars)*len(g.Cols))
	for i := range vars {
		row := cells[i*len(g.Cols) : i*len(g.Cols) : (i+1)*len(g.Cols)]
		for j, col := range columns {
			if j == 1 && len(g.Cols) > len(columns) {
				row = append(row, m.signs[i])
			}
			text := ""
			if col.text != nil {
				text = col.text(&vars[i])
			} else {
				text = col.field.cell(c, &vars[i])
			}
			row = append(row, s.term.Safe(text))
		}
		g.Rows[i] = row
	}
	if withMarks {
		for j, used := range m.shown {
			s.shown[j] = s.shown[j] || used
		}
		g.Style = func(row, col int) *lipgloss.Style {
			if col > 2 {
				return nil
			}
			return m.styles[row]
		}
	}
	return g.Write(s.w, s.term)
}

// setFirst puts the column SET of a list of what was set after the values, or below the rows if it does not fit there.
func (s *sections) setFirst(g *export.Grid, columns []tableField, c *catalog.Catalog, vars []catalog.Variable) []tableField {
	at := slices.IndexFunc(columns, func(col tableField) bool { return col.field.Name == "set" })
	if at < 0 || !s.opts.Changed || s.term.Width == 0 {
		return columns
	}
	set := columns[at]
	columns = slices.Insert(slices.Delete(columns, at, at+1), 2, set)
	texts, widths := make([]string, len(vars)), [3]int{}
	for i := range vars {
		texts[i] = shortOrigin(c, &vars[i])
		for j := range 2 {
			widths[j] = max(widths[j], export.Width(s.term.Safe(columns[j].field.cell(c, &vars[i]))))
		}
		widths[2] = max(widths[2], export.Width(s.term.Safe(texts[i])))
	}
	const signs = 3 + export.Gap
	if widths[0]+signs+export.Gap+widths[1]+export.Gap+widths[2] <= s.term.Width {
		columns[2] = tableField{set.field, export.Column{Header: set.Header, Flex: true, Floor: widths[2]}, func(v *catalog.Variable) string { return shortOrigin(c, v) }}
		columns[1].Floor = widths[1]
		g.Must = 3
		return columns
	}
	for i := range texts {
		if texts[i] != "" {
			texts[i] = s.term.Safe("set: " + texts[i])
		}
	}
	columns[0].Floor, columns[1].Floor = widths[0], widths[1] // before TYPE
	g.Below = texts
	g.Whole = func(_, col int) bool { return col < 2 || g.Cols[col].Header == "VALUE" }
	return slices.Delete(columns, 2, 3)
}

// shortOrigin is an origin with the name of a file without its directory.
func shortOrigin(c *catalog.Catalog, v *catalog.Variable) string {
	text := OriginText(c, v)
	if o := v.FirstOrigin().Origin; o != nil && o.Kind == catalog.OriginFile {
		text = strings.Replace(text, o.Where, filepath.Base(o.Where), 1)
	}
	return text
}

// events writes the events of MPI_T, and those of PERUSE as another table.
func (s *sections) events(c *catalog.Catalog, k *catalog.KindInfo) error {
	mpit, peruse := *c, *c
	mpit.Keep(catalog.Events, func(e catalog.Entry) bool { return !e.(*catalog.Event).Peruse() })
	peruse.Keep(catalog.Events, func(e catalog.Entry) bool { return e.(*catalog.Event).Peruse() })
	if len(mpit.Events) > 0 {
		if err := s.others(&mpit, k); err != nil || len(peruse.Events) == 0 {
			return err
		}
		s.titled = true
	}
	return s.entries(&peruse, k, "Events of PERUSE", peruseView)
}

// others writes entries that are not variables.
func (s *sections) others(c *catalog.Catalog, k *catalog.KindInfo) error {
	return s.entries(c, k, k.Title, views[k.Kind])
}

func (s *sections) entries(c *catalog.Catalog, k *catalog.KindInfo, title string, view view) error {
	more := ""
	if k.Kind == catalog.Categories && !s.opts.Filtered {
		more = CategoryChanges(c)
	}
	if err := s.heading(title, c.Count(k.Kind), more); err != nil {
		return err
	}
	name := nameColumn
	name.Header, name.Floor = "NAME", s.term.Width*2/5
	columns := append([]viewColumn{{Column: name, text: catalog.Entry.ID}}, view.columns...)
	columns = slices.DeleteFunc(columns, func(col viewColumn) bool { return col.spare && !used(c, k, col) })
	if s.opts.Fields != nil {
		columns, view.must = nil, len(s.opts.Fields)
		for _, col := range chosen(s.opts.Fields) {
			columns = append(columns, viewColumn{Column: col.Column, text: func(e catalog.Entry) string {
				text := col.field.textOf(c, k, e)
				if col.field.prose {
					text = export.OneLine(text)
				}
				return text
			}})
		}
	}
	g := export.Grid{Must: view.must}
	for _, col := range columns {
		g.Cols = append(g.Cols, col.Column)
	}
	for _, e := range c.Entries(k.Kind) {
		var row []string
		for _, col := range columns {
			row = append(row, s.term.Safe(col.text(e)))
		}
		g.Rows = append(g.Rows, row)
	}
	return g.Write(s.w, s.term)
}

// used reports whether a column has text for an entry.
func used(c *catalog.Catalog, k *catalog.KindInfo, col viewColumn) bool {
	for _, e := range c.Entries(k.Kind) {
		if col.text(e) != "" {
			return true
		}
	}
	return false
}

// blank reports whether a field is empty for all variables. Names and values never count as blank.
func blank(f *Field, c *catalog.Catalog, vars []catalog.Variable) bool {
	if f.Name == "name" || f.Name == "value" {
		return false
	}
	return !slices.ContainsFunc(vars, func(v catalog.Variable) bool { return f.Text(c, &v) != "" })
}

// any reports whether a variable has a sign.
func (m markedVariables) any() bool {
	for _, used := range m.shown {
		if used {
			return true
		}
	}
	return false
}

// some formats a number; 0 is blank.
func some(n int) string { return counted("", n) }

// counted formats a number after its words; 0 is blank.
func counted(words string, n int) string {
	if n == 0 {
		return ""
	}
	return words + strconv.Itoa(n)
}

// writableSummary counts the control variables that a trial write could set.
func writableSummary(vars []catalog.Variable) string {
	n := 0
	for i := range vars {
		if r := vars[i].Current(); r != nil && r.Writable == catalog.WritableYes {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d writable", n)
}

func joinNonempty(separator string, parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), separator)
}
