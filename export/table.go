package export

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/olekukonko/ll"
	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/tw"
)

// Grid is a table of safe cells with their styles.
type Grid struct {
	Cols  []Column
	Must  int // number of first columns that are never dropped
	Rows  [][]string
	Below []string                           // lines below each row, wrapped; nil: none
	Style func(row, col int) *lipgloss.Style // nil: plain
	Whole func(row, col int) bool            // cells that are whole below the row if they are cut; nil: none
}

// Table writes rows under headers, fitted to the terminal. It escapes cells and cuts those that do not fit, but drops no column.
func Table(w io.Writer, t Terminal, headers []string, rows [][]string) error {
	g := Grid{Must: len(headers), Rows: make([][]string, len(rows))}
	for _, h := range headers {
		g.Cols = append(g.Cols, Column{Header: h, Flex: true, Floor: 10})
	}
	for i, row := range rows {
		g.Rows[i] = make([]string, len(headers))
		for j := range min(len(row), len(headers)) {
			g.Rows[i][j] = t.Safe(row[j])
		}
	}
	return g.Write(w, t)
}

// Write fits the table to the terminal and writes it. With width 0 nothing is cut.
func (g *Grid) Write(w io.Writer, t Terminal) error {
	natural := make([]int, len(g.Cols))
	for i, c := range g.Cols {
		natural[i] = Width(c.Header)
	}
	for _, row := range g.Rows {
		for i, cell := range row {
			natural[i] = max(natural[i], Width(cell))
		}
	}
	p := &Printer{Term: t, cut: t.Width > 0, style: g.Style}
	if p.cut {
		p.Widths = fit(g.Cols, natural, g.Must, t.Width)
		g.keepWhole(p.Widths)
	} else {
		p.Widths = pads(natural)
	}
	p.below = g.Below
	headers := make([]string, len(g.Cols))
	for i, c := range g.Cols {
		headers[i] = c.Header
	}
	return p.run(w, headers, g.Rows)
}

// keepWhole puts cells that are cut below their row, if they must be whole somewhere.
func (g *Grid) keepWhole(widths []int) {
	if g.Whole == nil {
		return
	}
	for i, row := range g.Rows {
		for j, cell := range slices.Backward(row) {
			if Width(cell) > max(widths[j], 0) && g.Whole(i, j) {
				g.Below[i] = strings.TrimSpace(strings.ToLower(g.Cols[j].Header) + ": " + strings.TrimSpace(cell) + "\n" + g.Below[i])
			}
		}
	}
}

// alignRight pads the cells and the header of a column on the left.
func (g *Grid) alignRight(col int) {
	width := Width(g.Cols[col].Header)
	for _, row := range g.Rows {
		width = max(width, Width(row[col]))
	}
	pad := func(s string) string { return strings.Repeat(" ", width-Width(s)) + s }
	for _, row := range g.Rows {
		if row[col] != "" {
			row[col] = pad(row[col])
		}
	}
	g.Cols[col].Header = pad(g.Cols[col].Header)
}

// alignPoints pads numbers on the right to equal decimals.
func (g *Grid) alignPoints(col int) {
	decimals := func(s string) int { // including the point
		if _, after, ok := strings.Cut(s, "."); ok {
			return 1 + len(after)
		}
		return 0
	}
	number := func(s string) bool { return s != "" && strings.Trim(s, "-<=≤.0123456789") == "" }
	most := 0
	for _, row := range g.Rows {
		if number(row[col]) {
			most = max(most, decimals(row[col]))
		}
	}
	for _, row := range g.Rows {
		if number(row[col]) {
			row[col] += strings.Repeat(" ", most-decimals(row[col]))
		}
	}
}

// Printer renders the output of tablewriter. Tablewriter's own renderers measure text differently from the terminal and take twice
// the time.
type Printer struct {
	Term   Terminal
	Widths []int // -1: dropped
	cut    bool
	below  []string
	style  func(row, col int) *lipgloss.Style
	Out    *bufio.Writer
	row    int
}

const belowIndent = "      "

// manyRows is the length from which a table bypasses tablewriter, which takes 11 µs a row even in its fastest mode (known widths,
// streaming, this renderer): 14 ms for 1,300 rows, and 0.3 ms without it.
const manyRows = 200

// run writes the table.
func (p *Printer) run(w io.Writer, headers []string, rows [][]string) error {
	if len(rows) < manyRows {
		return p.tablewriter(w, headers, rows)
	}
	if err := p.Start(w); err != nil {
		return err
	}
	p.Header([][]string{headers}, tw.Formatting{})
	for _, row := range rows {
		p.Row(row, tw.Formatting{})
	}
	return p.Close()
}

// tablewriter streams the rows through a tablewriter.
func (p *Printer) tablewriter(w io.Writer, headers []string, rows [][]string) error {
	widths := tw.NewMapper[int, int]()
	for i := range p.Widths {
		widths.Set(i, 1<<20) // cells are cut by printer
	}
	table := tablewriter.NewTable(w,
		tablewriter.WithRenderer(p),
		tablewriter.WithStreaming(tw.StreamConfig{Enable: true}),
		tablewriter.WithColumnWidths(widths),
		tablewriter.WithPadding(tw.PaddingNone),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoFormat(tw.Off),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
	)
	if err := table.Start(); err != nil {
		return err
	}
	table.Header(headers)
	for _, row := range rows {
		if err := table.Append(row); err != nil {
			return err
		}
	}
	return table.Close()
}

// line writes one line of cells.
func (p *Printer) line(cells []string, style func(col int) *lipgloss.Style) {
	blanks := 0 // pending until the next cell, so that lines have no trailing blanks
	first := true
	for i, cell := range cells {
		if i >= len(p.Widths) || p.Widths[i] < 0 {
			continue
		}
		if !first {
			blanks += Gap
		}
		first = false
		if p.cut {
			cell = p.Term.Cut(cell, p.Widths[i])
		}
		if cell = strings.TrimRight(cell, " "); cell == "" {
			blanks += p.Widths[i]
			continue
		}
		p.blanks(blanks)
		blanks = max(p.Widths[i]-Width(cell), 0)
		if s := style(i); s != nil {
			cell = p.Term.Paint(*s, cell)
		}
		p.Out.WriteString(cell)
	}
	p.Out.WriteByte('\n')
}

func (p *Printer) blanks(n int) {
	const some = "                                                                "
	for ; n > len(some); n -= len(some) {
		p.Out.WriteString(some)
	}
	p.Out.WriteString(some[:n])
}

// These methods implement tw.Renderer.

func (p *Printer) Start(w io.Writer) error { p.Out = bufio.NewWriterSize(w, 1<<16); return nil }

func (p *Printer) Header(lines [][]string, _ tw.Formatting) {
	for _, cells := range lines {
		if strings.Join(cells, "") != "" {
			p.line(cells, func(int) *lipgloss.Style { return &HeaderStyle })
		}
	}
}

func (p *Printer) Row(cells []string, _ tw.Formatting) {
	p.line(cells, func(col int) *lipgloss.Style {
		if p.style == nil || !p.Term.Color {
			return nil
		}
		return p.style(p.row, col)
	})
	if p.row < len(p.below) && p.below[p.row] != "" {
		p.Note(p.below[p.row])
	}
	p.row++
}

// Note writes a text below a row.
func (p *Printer) Note(text string) {
	for _, l := range Lines(text, max(p.Term.Width-len(belowIndent), 1)) {
		p.Out.WriteString(belowIndent + p.Term.Paint(LabelStyle, l) + "\n")
	}
}

func (p *Printer) Footer([][]string, tw.Formatting) {}
func (p *Printer) Line(tw.Formatting)               {}
func (p *Printer) Config() tw.Rendition             { return tw.Rendition{Streaming: true} }
func (p *Printer) Close() error                     { return p.Out.Flush() }
func (p *Printer) Logger(*ll.Logger)                {}
