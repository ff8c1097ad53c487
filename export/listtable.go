package export

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"mpitx/catalog"
)

// tableField is a field as a column of the table for people.
type tableField struct {
	field *Field
	column
}

// The columns of variables, the most important first.
var (
	nameColumn     = column{flex: true, soft: 64}
	valueColumn    = column{flex: true, floor: 14, soft: 28}
	categoryColumn = column{flex: true, floor: 12}
	typeColumn     = column{flex: true, floor: 8}
	anyColumn      = column{flex: true, floor: 10, soft: 32}

	cvarTable    = tableFields("name,value,type,scope,writable,stage,verbosity,category,set,differs,conflicts")
	pvarTable    = tableFields("name,value,class,type,stage,bind,verbosity,category,set,differs,conflicts")
	cvarWide     = tableFields("name,value,type,scope,writable,stage,verbosity,enum,set,differs,conflicts,category,description")
	virtualTable = tableFields("name,class,unit,description")
	pvarWide     = tableFields("name,value,class,type,count,bind,flags,stage,verbosity,enum,differs,conflicts,category,description")
)

var standsInForMark = map[string]bool{"set": true, "differs": true, "conflicts": true}

func tableFields(names string) []tableField {
	var l []tableField
	for _, f := range mustFields(names) {
		c := column{}
		switch f.Name {
		case "name":
			c = nameColumn
		case "value":
			c = valueColumn
		case "type", "class":
			c = typeColumn
		case "description":
			c = column{flex: true, floor: 16}
		case "category":
			c = categoryColumn
		}
		c.header = f.Header
		l = append(l, tableField{f, c})
	}
	return l
}

// chosen are the columns of a --fields flag: all of them are shown.
func chosen(fields []*Field) []tableField {
	l := make([]tableField, len(fields))
	for i, f := range fields {
		l[i] = tableField{f, anyColumn}
		l[i].header = f.Header
	}
	return l
}

// listTable writes a section for each kind, with a heading and a table.
func listTable(w io.Writer, c *catalog.Catalog, opts ListOptions) error {
	t := opts.Terminal
	if opts.Format == FormatWide {
		t.Width = 0
	}
	s := sections{w: w, term: t, opts: opts, shown: make([]bool, len(marks))}
	for _, k := range kindWords {
		if !opts.Kinds.has(k.kind) || Count(c, k.kind) == 0 {
			continue
		}
		var err error
		switch k.kind {
		case Cvars:
			err = s.variables(k.title, c, c.Cvars, cvarTable, cvarWide)
		case Pvars:
			err = s.variables(k.title, c, c.Pvars, pvarTable, pvarWide)
		case Virtual:
			err = s.variables(k.title, c, c.Virtual, virtualTable, virtualTable)
		case Categories:
			err = s.categories(k.title, c.Categories)
		case Enums:
			err = s.enums(k.title, c.Enums)
		}
		if err != nil {
			return err
		}
	}
	if !t.IsTTY {
		return nil
	}
	for i, line := range legend(t, s.shown) {
		line = t.paint(labelStyle, t.Cut(line, t.Width)) + "\n"
		if i == 0 {
			line = "\n" + line
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	return nil
}

// sections writes tables one below the other.
type sections struct {
	w     io.Writer
	term  Terminal
	opts  ListOptions
	n     int    // sections written
	shown []bool // marks used
}

// heading goes above a table where people read it, or where there are several.
func (s *sections) heading(title string, n int, more string) error {
	before := ""
	if s.n++; s.n > 1 {
		before = "\n"
	}
	if !s.term.IsTTY && (s.opts.Kinds == Cvars || s.opts.Kinds == Pvars || s.opts.Kinds == Virtual || s.opts.Kinds == Categories || s.opts.Kinds == Enums) {
		return nil
	}
	count := strconv.Itoa(n)
	if s.opts.Filtered {
		count += " matching"
	}
	if more != "" {
		count += "; " + more
	}
	line := wrap(title+" ("+count+")", s.term.Width)
	for i := range line {
		line[i] = s.term.paint(headingStyle, line[i])
	}
	_, err := io.WriteString(s.w, before+strings.Join(line, "\n")+"\n")
	return err
}

func (s *sections) variables(title string, c *catalog.Catalog, vars []catalog.Variable, table, wide []tableField) error {
	m := markAll(s.term, vars, c.After.Read)
	if err := s.heading(title, len(vars), joinNonempty("; ", m.summary(), writableSummary(vars))); err != nil {
		return err
	}
	columns := table
	switch {
	case s.opts.Fields != nil:
		columns = chosen(s.opts.Fields)
	case s.opts.Format == FormatWide:
		columns = wide
	}
	withMarks := s.opts.Fields == nil && s.term.IsTTY
	if s.opts.Fields == nil {
		columns = slices.DeleteFunc(slices.Clone(columns), func(col tableField) bool {
			// In a pipe columns stay, but for those that stand in for the marks.
			return (withMarks || standsInForMark[col.field.Name]) && blank(col.field, c, vars)
		})
	}
	g := grid{must: len(columns)}
	if s.opts.Fields == nil {
		g.must = 2
	}
	for i, col := range columns {
		if i == 1 && withMarks && m.any() {
			g.cols = append(g.cols, column{})
			g.must++
		}
		switch {
		case s.opts.Fields != nil:
		case col.field.Name == "name":
			col.floor = s.term.Width / 2
		case s.term.Width >= 100:
			col.floor = max(col.floor, 20) // rather drop columns than cut types
		}
		g.cols = append(g.cols, col.column)
	}
	g.rows = make([][]string, len(vars))
	cells := make([]string, len(vars)*len(g.cols))
	for i := range vars {
		row := cells[i*len(g.cols) : i*len(g.cols) : (i+1)*len(g.cols)]
		for j, col := range columns {
			if j == 1 && len(g.cols) > len(columns) {
				row = append(row, m.signs[i])
			}
			row = append(row, s.term.Safe(col.field.cell(c, &vars[i])))
		}
		g.rows[i] = row
	}
	if withMarks {
		for j, used := range m.shown {
			s.shown[j] = s.shown[j] || used
		}
		g.style = func(row, col int) *lipgloss.Style {
			if col > 2 {
				return nil
			}
			return m.styles[row]
		}
	}
	return g.write(s.w, s.term)
}

func (s *sections) categories(title string, cats []catalog.Category) error {
	if err := s.heading(title, len(cats), ""); err != nil {
		return err
	}
	g := grid{must: 1}
	if s.opts.Fields != nil {
		g = s.chosenGrid(len(cats), func(f *Field, i int) any {
			if f.Category == nil {
				return ""
			}
			if x, ok := f.Category(&cats[i]).(string); ok && f.prose {
				return oneLine(x)
			}
			return f.Category(&cats[i])
		})
		return g.write(s.w, s.term)
	}
	name := nameColumn
	name.header, name.floor = "NAME", s.term.Width*2/5
	g.cols = []column{name, {header: "CVARS"}, {header: "PVARS"}, {header: "INSIDE"}, {header: "STAGE"},
		{header: "DESCRIPTION", flex: true, floor: 16}}
	g.must = 3
	for i := range cats {
		k := &cats[i]
		g.rows = append(g.rows, []string{s.term.Safe(k.Name), some(len(k.Cvars)), some(len(k.Pvars)), some(len(k.Categories)),
			stageText(k.Before, k.After), s.term.Safe(oneLine(k.Description))})
	}
	return g.write(s.w, s.term)
}

func (s *sections) enums(title string, enums []catalog.Enum) error {
	if err := s.heading(title, len(enums), ""); err != nil {
		return err
	}
	if s.opts.Fields != nil {
		g := s.chosenGrid(len(enums), func(f *Field, i int) any {
			if f.Enum == nil {
				return ""
			}
			return f.Enum(&enums[i])
		})
		return g.write(s.w, s.term)
	}
	name := nameColumn
	name.header, name.floor = "NAME", s.term.Width*2/5
	g := grid{must: 2, cols: []column{name, {header: "COUNT"}, {header: "KIND"}, {header: "ITEMS", flex: true, floor: 16}}}
	for i := range enums {
		e := &enums[i]
		kind := "values"
		if e.Flags {
			kind = "flags"
		}
		g.rows = append(g.rows, []string{s.term.Safe(e.Name), strconv.Itoa(len(e.Items)), kind,
			s.term.Safe(strings.ReplaceAll(display(e.Items), ",", " "))})
	}
	return g.write(s.w, s.term)
}

// chosenGrid is a table of the fields asked for, of things that are no variables.
func (s *sections) chosenGrid(n int, value func(f *Field, i int) any) grid {
	columns := chosen(s.opts.Fields)
	g := grid{must: len(columns), rows: make([][]string, n)}
	for _, col := range columns {
		g.cols = append(g.cols, col.column)
	}
	for i := range n {
		for _, col := range columns {
			g.rows[i] = append(g.rows[i], s.term.Safe(display(value(col.field, i))))
		}
	}
	return g
}

// blank reports whether a field says nothing of any variable. Names and values are never blank.
func blank(f *Field, c *catalog.Catalog, vars []catalog.Variable) bool {
	if f.Name == "name" || f.Name == "value" {
		return false
	}
	return !slices.ContainsFunc(vars, func(v catalog.Variable) bool { return f.Text(c, &v) != "" })
}

// any reports whether a variable bears a sign.
func (m markedVariables) any() bool {
	for _, used := range m.shown {
		if used {
			return true
		}
	}
	return false
}

// some is a number, blank for none.
func some(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// writableSummary counts the control variables that a trial write could set where they exist now.
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
