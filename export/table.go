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

// grid is a table of safe cells with their styles.
type grid struct {
	cols  []column
	must  int // number of first columns that are never dropped
	rows  [][]string
	below []string                           // lines below each row, wrapped; nil: none
	style func(row, col int) *lipgloss.Style // nil: plain
	whole func(row, col int) bool            // cells that are whole below the row if they are cut; nil: none
}

// Table writes rows under headers, fitted to the terminal. It escapes cells and cuts those that do not fit, but drops no column.
func Table(w io.Writer, t Terminal, headers []string, rows [][]string) error {
	g := grid{must: len(headers), rows: make([][]string, len(rows))}
	for _, h := range headers {
		g.cols = append(g.cols, column{header: h, flex: true, floor: 10})
	}
	for i, row := range rows {
		g.rows[i] = make([]string, len(headers))
		for j := range min(len(row), len(headers)) {
			g.rows[i][j] = t.Safe(row[j])
		}
	}
	return g.write(w, t)
}

// write fits the table to the terminal and writes it. With width 0 nothing is cut.
func (g *grid) write(w io.Writer, t Terminal) error {
	natural := make([]int, len(g.cols))
	for i, c := range g.cols {
		natural[i] = Width(c.header)
	}
	for _, row := range g.rows {
		for i, cell := range row {
			natural[i] = max(natural[i], Width(cell))
		}
	}
	p := &printer{term: t, cut: t.Width > 0, style: g.style}
	if p.cut {
		p.widths = fit(g.cols, natural, g.must, t.Width)
		g.keepWhole(p.widths)
	} else {
		p.widths = pads(natural)
	}
	p.below = g.below
	headers := make([]string, len(g.cols))
	for i, c := range g.cols {
		headers[i] = c.header
	}
	return p.run(w, headers, g.rows)
}

// keepWhole puts cells that are cut below their row, if they must be whole somewhere.
func (g *grid) keepWhole(widths []int) {
	if g.whole == nil {
		return
	}
	for i, row := range g.rows {
		for j, cell := range slices.Backward(row) {
			if Width(cell) > max(widths[j], 0) && g.whole(i, j) {
				g.below[i] = strings.TrimSpace(strings.ToLower(g.cols[j].header) + ": " + strings.TrimSpace(cell) + "\n" + g.below[i])
			}
		}
	}
}

// alignRight pads the cells and the header of a column on the left.
func (g *grid) alignRight(col int) {
	width := Width(g.cols[col].header)
	for _, row := range g.rows {
		width = max(width, Width(row[col]))
	}
	pad := func(s string) string { return strings.Repeat(" ", width-Width(s)) + s }
	for _, row := range g.rows {
		if row[col] != "" {
			row[col] = pad(row[col])
		}
	}
	g.cols[col].header = pad(g.cols[col].header)
}

// alignPoints pads numbers on the right to equal decimals.
func (g *grid) alignPoints(col int) {
	decimals := func(s string) int { // including the point
		if _, after, ok := strings.Cut(s, "."); ok {
			return 1 + len(after)
		}
		return 0
	}
	number := func(s string) bool { return s != "" && strings.Trim(s, "-<=≤.0123456789") == "" }
	most := 0
	for _, row := range g.rows {
		if number(row[col]) {
			most = max(most, decimals(row[col]))
		}
	}
	for _, row := range g.rows {
		if number(row[col]) {
			row[col] += strings.Repeat(" ", most-decimals(row[col]))
		}
	}
}

// printer renders the output of tablewriter. Tablewriter's own renderers measure text differently from the terminal and take twice
// the time.
type printer struct {
	term   Terminal
	widths []int // -1: dropped
	cut    bool
	below  []string
	style  func(row, col int) *lipgloss.Style
	out    *bufio.Writer
	row    int
}

const belowIndent = "      "

// manyRows is the length from which a table bypasses tablewriter, which takes 11 µs a row even in its fastest mode (known widths,
// streaming, this renderer): 14 ms for 1,300 rows, and 0.3 ms without it.
const manyRows = 200

// run writes the table.
func (p *printer) run(w io.Writer, headers []string, rows [][]string) error {
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
func (p *printer) tablewriter(w io.Writer, headers []string, rows [][]string) error {
	widths := tw.NewMapper[int, int]()
	for i := range p.widths {
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
func (p *printer) line(cells []string, style func(col int) *lipgloss.Style) {
	blanks := 0 // pending until the next cell, so that lines have no trailing blanks
	first := true
	for i, cell := range cells {
		if i >= len(p.widths) || p.widths[i] < 0 {
			continue
		}
		if !first {
			blanks += gap
		}
		first = false
		if p.cut {
			cell = p.term.Cut(cell, p.widths[i])
		}
		if cell = strings.TrimRight(cell, " "); cell == "" {
			blanks += p.widths[i]
			continue
		}
		p.blanks(blanks)
		blanks = max(p.widths[i]-Width(cell), 0)
		if s := style(i); s != nil {
			cell = p.term.paint(*s, cell)
		}
		p.out.WriteString(cell)
	}
	p.out.WriteByte('\n')
}

func (p *printer) blanks(n int) {
	const some = "                                                                "
	for ; n > len(some); n -= len(some) {
		p.out.WriteString(some)
	}
	p.out.WriteString(some[:n])
}

// These methods implement tw.Renderer.

func (p *printer) Start(w io.Writer) error { p.out = bufio.NewWriterSize(w, 1<<16); return nil }

func (p *printer) Header(lines [][]string, _ tw.Formatting) {
	for _, cells := range lines {
		if strings.Join(cells, "") != "" {
			p.line(cells, func(int) *lipgloss.Style { return &headerStyle })
		}
	}
}

func (p *printer) Row(cells []string, _ tw.Formatting) {
	p.line(cells, func(col int) *lipgloss.Style {
		if p.style == nil || !p.term.Color {
			return nil
		}
		return p.style(p.row, col)
	})
	if p.row < len(p.below) && p.below[p.row] != "" {
		p.note(p.below[p.row])
	}
	p.row++
}

// note writes a text below a row.
func (p *printer) note(text string) {
	for _, l := range wrap(text, max(p.term.Width-len(belowIndent), 1)) {
		p.out.WriteString(belowIndent + p.term.paint(labelStyle, l) + "\n")
	}
}

func (p *printer) Footer([][]string, tw.Formatting) {}
func (p *printer) Line(tw.Formatting)               {}
func (p *printer) Config() tw.Rendition             { return tw.Rendition{Streaming: true} }
func (p *printer) Close() error                     { return p.out.Flush() }
func (p *printer) Logger(*ll.Logger)                {}
