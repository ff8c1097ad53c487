// Package grids writes what campaigns over collectives found (tune/grid): heat maps of the winner and its gain, the decision table, and what
// could not be told.
package grids

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"mpitx/export"
	"mpitx/export/html"
	"mpitx/text"
	"mpitx/tune/grid"
)

// Formats are the formats of [Write].
var Formats = []export.Format{export.FormatTable, export.FormatJSON, export.FormatNDJSON, export.FormatCSV}

// Write writes the result. In the formats for programs a row is a cell of the grid.
func Write(w io.Writer, r *grid.Result, f export.Format, t export.Terminal) error {
	if f != export.FormatTable && f != "" {
		return rows(r).Write(w, f, t)
	}
	for _, line := range head(r) {
		if _, err := fmt.Fprintln(w, export.Wrap(t.Safe(line), t.Width)); err != nil {
			return err
		}
	}
	for _, m := range heatMaps(r) {
		fmt.Fprintf(w, "\n%s\n", export.Wrap(t.Safe(m.Title), t.Width))
		if err := m.write(w, t); err != nil {
			return err
		}
	}
	if len(r.Choices) > 0 {
		fmt.Fprintln(w)
		if err := choiceRows(r).Write(w, export.FormatTable, t); err != nil {
			return err
		}
	}
	if list := unsure(r); len(list.Rows) > 0 {
		fmt.Fprintln(w, "\nNot told apart:")
		if err := list.Write(w, export.FormatTable, t); err != nil {
			return err
		}
	}
	if list := dropped(r); len(list.Rows) > 0 {
		fmt.Fprintln(w, "\nNot measured:")
		return list.Write(w, export.FormatTable, t)
	}
	return nil
}

// HTML writes the result as a page.
func HTML(w io.Writer, r *grid.Result) error {
	t := export.Terminal{UTF8: true}
	p := html.Page{Title: r.Plan.Library, What: "algorithms of collectives"}
	for _, line := range head(r) {
		p.Head = append(p.Head, t.Safe(line))
	}
	for _, m := range heatMaps(r) {
		chart := html.HeatMap{Title: m.Title, Row: "ranks", Column: "bytes", Rows: m.rows, Columns: m.columns}
		for _, row := range m.cells {
			var cells []html.HeatCell
			for _, c := range row {
				cells = append(cells, html.HeatCell{Lines: strings.SplitN(c.text(), " ", 2), Share: c.gain / 100})
			}
			chart.Cells = append(chart.Cells, cells)
		}
		p.Maps = append(p.Maps, chart)
	}
	p.Tables = append(p.Tables, html.Table{Title: "Decision table", Rows: choiceRows(r)}, html.Table{Title: "Not told apart", Rows: unsure(r)},
		html.Table{Title: "Not measured", Rows: dropped(r)}, html.Table{Title: "All measurements", Rows: rows(r)})
	return p.Write(w)
}

// head says what was measured, and what may not be concluded.
func head(r *grid.Result) (lines []string) {
	p := &r.Plan
	n := 0
	for _, f := range r.Findings {
		if f.Winner {
			n++
		}
	}
	cells := len(slices.DeleteFunc(slices.Clone(r.Findings), func(f grid.Finding) bool { return !f.Coarse }))
	lines = append(lines, fmt.Sprintf("%s, %s on %s (%s): %s in %s. At %d of %s an algorithm is faster than the library's own choice.",
		p.Library, text.Count(p.Ranks, "rank"), p.Host, text.Count(p.Cores, "core"), text.Count(r.Runs, "run"), text.Count(int(r.Seconds+0.5), "second"), n, text.Count(cells, "place")))
	lines = append(lines, "Below: the faster algorithm, and how its time differs; =: the library's own choice; ?: not confirmed.")
	if slices.ContainsFunc(r.Choices, func(c grid.Choice) bool { return c.Algorithm.Segment > 0 }) {
		lines = append(lines, "After /: the size of the segments into which the algorithm cuts messages.")
	}
	if r.Incomplete != "" {
		lines = append(lines, "Incomplete: "+r.Incomplete+". The same command with a greater --budget goes on.")
	}
	if r.Crowded {
		lines = append(lines, "Ranks share cores: this shows the procedure, but not which algorithm is faster where each rank has a core.")
	}
	return lines
}

// heatMap is the part of one function.
type heatMap struct {
	Title         string
	rows, columns []string
	cells         [][]heatCell
}

type heatCell struct {
	name string // of the winner; "": the library's own choice
	gain float64
	mark string // without a winner
}

func (c heatCell) text() string {
	if c.name == "" {
		return c.mark
	}
	return fmt.Sprintf("-%.0f%% %s", c.gain, c.name)
}

func heatMaps(r *grid.Result) (all []heatMap) {
	for _, collective := range r.Plan.Collectives {
		m := heatMap{Title: collective.Function + ", by ranks and bytes"}
		var sizes []int64
		for _, f := range r.Findings {
			if f.Function == collective.Function && f.Coarse && !slices.Contains(sizes, f.Bytes) {
				sizes = append(sizes, f.Bytes)
				m.columns = append(m.columns, grid.SizeText(f.Bytes))
			}
		}
		for _, ranks := range r.Plan.CommSizes {
			row := make([]heatCell, len(sizes))
			for _, f := range r.Findings {
				if f.Function != collective.Function || f.Ranks != ranks || !f.Coarse {
					continue
				}
				c := &row[slices.Index(sizes, f.Bytes)]
				switch {
				case f.Winner:
					c.name, c.gain = f.Algorithm.Text(), grid.Gain(f.Change)
				case f.Own.Runs == 0:
					c.mark = ""
				case f.Left != "":
					c.mark = "?"
				default:
					c.mark = "="
				}
			}
			m.rows, m.cells = append(m.rows, fmt.Sprint(ranks)), append(m.cells, row)
		}
		all = append(all, m)
	}
	return all
}

// shades are backgrounds for gains, and the text on them: the greater, the darker.
var shades = []struct{ back, text color.Color }{
	{lipgloss.Color("153"), lipgloss.Color("16")}, {lipgloss.Color("110"), lipgloss.Color("16")}, {lipgloss.Color("25"), lipgloss.Color("231")}, {lipgloss.Color("17"), lipgloss.Color("231")},
}

func (m *heatMap) write(w io.Writer, t export.Terminal) error {
	g := export.Grid{Cols: []export.Column{{Header: "RANKS"}}, Must: 1 + len(m.columns)}
	for _, name := range m.columns {
		g.Cols = append(g.Cols, export.Column{Header: name, Flex: true, Floor: 8})
	}
	for k, row := range m.cells {
		cells := []string{m.rows[k]}
		for _, c := range row {
			cells = append(cells, t.Safe(c.text()))
		}
		g.Rows = append(g.Rows, cells)
	}
	if t.Color {
		g.Style = func(row, col int) *lipgloss.Style {
			if row < 0 || col == 0 || row >= len(m.cells) || m.cells[row][col-1].name == "" {
				return nil
			}
			shade := shades[min(int(m.cells[row][col-1].gain/20), len(shades)-1)]
			style := lipgloss.NewStyle().Background(shade.back).Foreground(shade.text)
			return &style
		}
	}
	return g.Write(w, t)
}

func percent(part float64) string { return fmt.Sprintf("%+.1f %%", 100*part) }

func interval(f *grid.Finding) string { return percent(f.Low) + " to " + percent(f.High) }

// choiceRows is the decision table: what served the calls with the choice and without, and the place with the least change.
func choiceRows(r *grid.Result) *export.Rows {
	rows := &export.Rows{Columns: []export.RowColumn{{Name: "function", Header: "FUNCTION"}, {Name: "ranks", Header: "RANKS", Right: true}, {Name: "from", Header: "FROM", Right: true},
		{Name: "to", Header: "TO", Right: true}, {Name: "algorithm", Header: "ALGORITHM"}, {Name: "change", Header: "TIME", Right: true},
		{Name: "interval", Header: "INTERVAL", Right: true}, {Name: "instead", Header: "INSTEAD OF", Below: true, Label: "instead of: "}, {Name: "ran", Header: "RAN", Below: true, Label: "ran: "}}}
	for _, c := range r.Choices {
		var ran, instead []string
		var least *grid.Finding
		for k := range r.Findings {
			f := &r.Findings[k]
			if f.Function != c.Function || f.Ranks != c.Ranks || !f.Coarse || f.Bytes < c.From || f.Bytes > c.To {
				continue
			}
			if least == nil || f.Change > least.Change {
				least = f
			}
			instead = append(instead, f.Own.Ran)
			for _, m := range f.Tried {
				if m.Name == c.Algorithm.Text() {
					ran = append(ran, m.Ran)
				}
			}
		}
		between := ""
		if least != nil {
			between = interval(least)
		}
		rows.Rows = append(rows.Rows, []any{c.Function, c.Ranks, grid.SizeText(c.From), grid.SizeText(c.To), c.Algorithm.Text(), percent(c.Change), between, distinct(instead), distinct(ran)})
	}
	return rows
}

func distinct(all []string) string {
	slices.Sort(all)
	return strings.Join(slices.DeleteFunc(slices.Compact(all), func(s string) bool { return s == "" }), "; ")
}

// unsure are candidates that were not confirmed.
func unsure(r *grid.Result) *export.Rows {
	rows := &export.Rows{Columns: []export.RowColumn{{Name: "function", Header: "FUNCTION"}, {Name: "ranks", Header: "RANKS", Right: true},
		{Name: "bytes", Header: "BYTES", Right: true}, {Name: "algorithm", Header: "ALGORITHM"}, {Name: "change", Header: "TIME", Right: true}, {Name: "interval", Header: "INTERVAL"}, {Name: "why", Header: "WHY"}}}
	for k := range r.Findings {
		f := &r.Findings[k]
		if f.Candidate == "" || f.Winner {
			continue
		}
		between, why := interval(f), "the interval contains 0"
		switch {
		case f.Left != "":
			between, why = "", f.Left
		case f.Needed > 0:
			why += fmt.Sprintf("; about %d runs would show this change", f.Needed)
		}
		rows.Rows = append(rows.Rows, []any{f.Function, f.Ranks, grid.SizeText(f.Bytes), f.Candidate, percent(f.Change), between, why})
	}
	return rows
}

func dropped(r *grid.Result) *export.Rows {
	rows := &export.Rows{Columns: []export.RowColumn{{Name: "function", Header: "FUNCTION"}, {Name: "ranks", Header: "RANKS", Right: true},
		{Name: "bytes", Header: "BYTES", Right: true}, {Name: "algorithm", Header: "ALGORITHM"}, {Name: "why", Header: "WHY"}}}
	for _, d := range r.Dropped {
		size := "any"
		if d.Bytes >= 0 {
			size = grid.SizeText(d.Bytes)
		}
		rows.Rows = append(rows.Rows, []any{d.Function, d.Ranks, size, d.Algorithm, export.OneLine(d.Why)})
	}
	return rows
}

// rows are all measurements, one algorithm in a cell of the grid each.
func rows(r *grid.Result) *export.Rows {
	rows := &export.Rows{Schema: "mpitx.tune.collectives", Columns: []export.RowColumn{{Name: "function", Header: "FUNCTION"}, {Name: "ranks", Header: "RANKS", Right: true}, {Name: "bytes", Header: "BYTES", Right: true},
		{Name: "algorithm", Header: "ALGORITHM"}, {Name: "ran", Header: "RAN"}, {Name: "time_ns", Header: "TIME (ns)", Right: true}, {Name: "runs", Header: "RUNS", Right: true},
		{Name: "repetitions", Header: "REPETITIONS", Right: true}, {Name: "outliers", Header: "OUTLIERS", Right: true}, {Name: "missed", Header: "MISSED", Right: true}, {Name: "start"},
		{Name: "winner"}, {Name: "change"}, {Name: "low"}, {Name: "high"}, {Name: "failed", Header: "FAILED"}},
		About: []export.Member{{Name: "plan", Value: r.Plan}, {Name: "runs", Value: r.Runs}, {Name: "seconds", Value: r.Seconds}, {Name: "incomplete", Value: r.Incomplete}, {Name: "crowded", Value: r.Crowded},
			{Name: "choices", Value: append([]grid.Choice{}, r.Choices...)}, {Name: "dropped", Value: append([]grid.DroppedOnce{}, r.Dropped...)}}}
	for k := range r.Findings {
		f := &r.Findings[k]
		for i, m := range append([]grid.Measured{f.Own}, f.Tried...) {
			start := "window"
			if m.Barrier {
				start = "barrier"
			}
			row := []any{f.Function, f.Ranks, f.Bytes, m.Name, m.Ran, int64(m.Median), m.Runs, m.N, m.Outliers, m.Missed, start, false, nil, nil, nil, export.OneLine(m.Failed)}
			if i > 0 && m.Name == f.Candidate && f.Confirmed > 0 {
				row[11], row[12], row[13], row[14] = f.Winner, f.Change, f.Low, f.High
			}
			rows.Rows = append(rows.Rows, row)
		}
	}
	return rows
}
