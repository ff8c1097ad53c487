package export

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"mpitx/text"
)

// RowColumn is a column of a Rows table.
type RowColumn struct {
	Name           string // in JSON and CSV
	Header         string // in tables; "": not in tables
	Wide           bool   // only in wide tables
	Right          bool   // right-aligned, and never cut
	Point          bool   // with Right: aligned at the decimal point
	DropFirst      bool   // in tables after the others, and dropped first if the terminal is too narrow
	Drop           int    // the order in which columns are dropped before the first one is cut; 0: never
	Optional       bool   // not in tables if all its cells are empty
	MinWidth       int    // the width down to which it is cut before columns with Drop are dropped; 0: 10
	Below          bool   // on lines below the row, uncut, if the columns do not fit next to each other
	AlwaysBelow    bool   // on lines below the row in a terminal, however wide
	Label          string // with Below and AlwaysBelow: before the text there
	Whole          string // the name of a column: if it has text, a cell that is cut is whole below the row
	PreferredWidth int    // the width up to which it grows before the columns after it get theirs; 0: any
}

// Rows is the result of a command as a table. Cells are strings, numbers, booleans, nil, or any type that encoding/json encodes and
// fmt prints.
type Rows struct {
	Schema  string // "mpitx.write"
	Columns []RowColumn
	Rows    [][]any
	About   []Member // what JSON has besides the rows
}

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value any
}

// RowsOf is a table for programs, without rows, whose columns have these names.
func RowsOf(schema, names string) *Rows {
	r := &Rows{Schema: schema}
	for name := range strings.FieldsSeq(names) {
		r.Columns = append(r.Columns, RowColumn{Name: name})
	}
	return r
}

// Units writes the units in texts of mpitx's own with the characters that a terminal has.
func (r *Rows) Units(t Terminal) {
	for _, row := range r.Rows {
		for i := range row {
			if s, ok := row[i].(string); ok {
				row[i] = t.Units(s)
			}
		}
	}
}

// Write writes the rows in any format. The names format is the first column.
func (r *Rows) Write(w io.Writer, f Format, t Terminal) error {
	switch f {
	case FormatJSON:
		return r.json(w)
	case FormatNDJSON:
		return r.ndjson(w)
	case FormatCSV:
		return r.csv(w, t)
	case FormatNames:
		for _, row := range r.Rows {
			if _, err := io.WriteString(w, t.Safe(cellText(row[0]))+"\n"); err != nil {
				return err
			}
		}
		return nil
	case FormatWide:
		t.Width = 0
	case FormatTable, "":
	default:
		return fmt.Errorf("no such format for this table: %q", f)
	}
	return r.table(w, t, f == FormatWide)
}

// table writes the columns in order, with the spare ones last.
func (r *Rows) table(w io.Writer, t Terminal, wide bool) error {
	var shown []int
	g := Grid{}
	narrow := !wide && r.tooWide(t)
	for _, spare := range []bool{false, true} {
		for i, c := range r.Columns {
			if c.DropFirst != spare || c.Header == "" || c.Wide && !wide || c.Optional && r.empty(i) || c.below(narrow, t) {
				continue
			}
			shown = append(shown, i)
			g.Cols = append(g.Cols, Column{Header: c.Header, Flex: !c.Right, Floor: cmp.Or(c.MinWidth, 10), drop: c.Drop, Soft: c.PreferredWidth})
			if !spare {
				g.Must = len(g.Cols)
			} else {
				g.Cols[0].Floor = 40 // names are more important
			}
		}
	}
	for _, row := range r.Rows {
		cells := make([]string, len(shown))
		for k, i := range shown {
			cells[k] = t.Safe(cellText(row[i]))
		}
		g.Rows = append(g.Rows, cells)
		g.Below = append(g.Below, r.belowText(row, narrow, t))
	}
	g.Whole = func(row, col int) bool {
		c := r.Columns[shown[col]]
		return c.Whole != "" && cellText(r.Rows[row][slices.Index(r.names(), c.Whole)]) != ""
	}
	for k, i := range shown {
		if r.Columns[i].Point {
			g.alignPoints(k)
		}
		if r.Columns[i].Right {
			g.alignRight(k)
		}
	}
	return g.Write(w, t)
}

// tooWide says whether columns go below the rows, because a terminal is too narrow for all next to each other.
func (r *Rows) tooWide(t Terminal) bool {
	if t.Width == 0 || !slices.ContainsFunc(r.Columns, func(c RowColumn) bool { return c.Below }) {
		return false
	}
	total := -Gap
	for i, c := range r.Columns {
		if c.Header == "" || c.Wide || c.AlwaysBelow || c.Optional && r.empty(i) {
			continue
		}
		width := Width(c.Header)
		for _, row := range r.Rows {
			width = max(width, Width(cellText(row[i])))
		}
		if c.PreferredWidth > 0 && !c.Below {
			width = min(width, c.PreferredWidth)
		}
		total += Gap + width
	}
	return total > t.Width
}

// below says whether a column goes below the rows.
func (c *RowColumn) below(narrow bool, t Terminal) bool {
	return c.Below && narrow || c.AlwaysBelow && t.Width > 0
}

// belowText is what goes below a row, the last column first.
func (r *Rows) belowText(row []any, narrow bool, t Terminal) string {
	var lines []string
	for i, c := range slices.Backward(r.Columns) {
		if text := cellText(row[i]); c.below(narrow, t) && text != "" {
			lines = append(lines, t.Safe(c.Label+text))
		}
	}
	return strings.Join(lines, "\n")
}

// empty says whether all cells of a column are empty.
func (r *Rows) empty(column int) bool {
	return !slices.ContainsFunc(r.Rows, func(row []any) bool { return cellText(row[column]) != "" })
}

// cellText formats a cell for people and CSV.
func cellText(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case string:
		return x
	case []int:
		return text.RankList(x)
	case float64: // as in JSON
		b, _ := AppendJSON(nil, x)
		return string(b)
	case []string:
		return strings.Join(x, ",")
	}
	return fmt.Sprint(x)
}

func (r *Rows) names() []string {
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	return names
}

func (r *Rows) json(w io.Writer) error {
	b := fmt.Appendf(nil, "{\n  \"schema\": %q,\n  \"version\": 1,", r.Schema)
	names := r.names()
	var err error
	for _, m := range r.About {
		b = fmt.Appendf(b, "\n  %q: ", m.Name)
		if b, err = AppendJSON(b, m.Value); err != nil {
			return err
		}
		b = append(b, ',')
	}
	b = append(b, "\n  \"rows\": ["...)
	for i, row := range r.Rows {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		if b, err = AppendObject(b, names, func(i int) any { return row[i] }); err != nil {
			return err
		}
	}
	if len(r.Rows) > 0 {
		b = append(b, "\n  "...)
	}
	_, err = w.Write(append(b, "]\n}\n"...))
	return err
}

func (r *Rows) ndjson(w io.Writer) error {
	names := r.names()
	var b []byte
	var err error
	for _, row := range r.Rows {
		if b, err = AppendObject(b, names, func(i int) any { return row[i] }); err != nil {
			return err
		}
		b = append(b, '\n')
	}
	_, err = w.Write(b)
	return err
}

func (r *Rows) csv(w io.Writer, t Terminal) error {
	out := csv.NewWriter(w)
	if err := out.Write(r.names()); err != nil {
		return err
	}
	for _, row := range r.Rows {
		cells := make([]string, len(row))
		for i, x := range row {
			cells[i] = t.CSV(cellText(x))
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
