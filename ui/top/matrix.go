package top

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/ui/chart"
	"mpitx/ui/term"
)

type quantity uint8

const (
	messageBytes quantity = iota
	messageCounts
	oneSidedBytes
	oneSidedCounts
	quantities
)

// span is some ranks.
type span struct{ from, to int }

func (s span) has(rank int) bool { return rank >= s.from && rank < s.to }

type grid struct {
	of                  quantity
	rate                bool // per second, else since the start
	source, destination int  // the cursor
	rows, columns       span // the ranks that are shown; zero: all
}

func (m *Model) pairs() []Pair {
	switch {
	case m.frame == nil:
		return nil
	case m.frame.Matrix != nil && m.grid.of >= oneSidedBytes:
		return m.frame.Matrix.OneSided
	}
	return m.frame.pairs()
}

func (f *Frame) pairs() []Pair {
	if f.Matrix == nil {
		return nil
	}
	return f.Matrix.Pairs
}

// number is what a pair shows.
func (g *grid) number(p *Pair) float64 {
	switch counts := g.of == messageCounts || g.of == oneSidedCounts; {
	case counts && g.rate:
		return p.MessagesRate
	case counts:
		return float64(p.Messages)
	case g.rate:
		return p.BytesRate
	}
	return float64(p.Bytes)
}

func (g *grid) label(x float64) string {
	if g.of == messageBytes || g.of == oneSidedBytes {
		return labelled(x, "B")
	}
	return chart.Number(x)
}

// span is the ranks that are shown in one direction.
func (m *Model) span(of span) span {
	if of != (span{}) {
		return of
	}
	n := max(m.frame.Size, 1)
	for _, p := range m.pairs() {
		n = max(n, p.Source+1, p.Destination+1)
	}
	return span{0, n}
}

// size is how many neighbouring ranks share a row and a column.
func (m *Model) groupSize() int {
	rows, columns := m.span(m.grid.rows), m.span(m.grid.columns)
	most := max(len(strconv.Itoa(rows.to))*2+1, 4)
	roomRows, roomColumns := chart.GridRoom(m.Width, m.gridHeight(), most)
	return max((rows.to-rows.from+roomRows-1)/roomRows, (columns.to-columns.from+roomColumns-1)/roomColumns, 1)
}

func (m *Model) gridHeight() int { return max(m.Height-headerLines-3, 1) } // without its title, the values at the cursor and the footer

// groups are the first ranks of groups, or with last their first and last ones.
func (s span) groups(size int, last bool) (names []string) {
	for from := s.from; from < s.to; from += size {
		name := strconv.Itoa(from)
		if to := min(from+size, s.to) - 1; last && to > from {
			name += "-" + strconv.Itoa(to)
		}
		names = append(names, name)
	}
	return names
}

// group is the ranks that share a row or column with a rank.
func (s span) group(rank, size int) span {
	from := s.from + (rank-s.from)/size*size
	return span{from, min(from+size, s.to)}
}

func (m *Model) clampGrid() {
	rows, columns := m.span(m.grid.rows), m.span(m.grid.columns)
	m.grid.source = max(min(m.grid.source, rows.to-1), rows.from)
	m.grid.destination = max(min(m.grid.destination, columns.to-1), columns.from)
}

func (m *Model) drawGrid() chart.GridDrawing {
	m.clampGrid()
	rows, columns, size := m.span(m.grid.rows), m.span(m.grid.columns), m.groupSize()
	g := chart.Grid{Title: "from", Rows: rows.groups(size, true), Columns: columns.groups(size, false), Label: m.grid.label, Log: m.log,
		Row: (m.grid.source - rows.from) / size, Column: (m.grid.destination - columns.from) / size}
	for range g.Rows {
		g.Values = append(g.Values, chart.Gaps(len(g.Columns)))
	}
	pairs := m.pairs()
	for i := range pairs {
		p := &pairs[i]
		x := m.grid.number(p)
		if x == 0 || !rows.has(p.Source) || !columns.has(p.Destination) {
			continue
		}
		to := &g.Values[(p.Source-rows.from)/size][(p.Destination-columns.from)/size]
		*to = sum.add(*to, x)
	}
	return chart.HeatGrid(g, m.Width, m.gridHeight(), m.Terminal)
}

// matrixLines is the view of the matrix: its title, the drawing, the values at the cursor, and the greatest pairs if there is room.
func (m *Model) matrixLines() []string {
	if m.frame.Matrix == nil {
		return []string{"", " " + m.emptyText()}
	}
	lines := append([]string{m.matrixTitle()}, m.drawGrid().Lines...)
	lines = append(lines, m.matrixReadout())
	if room := m.Height - headerLines - 1 - len(lines) - 1; room >= 3 {
		lines = append(lines, "")
		lines = append(lines, m.greatest(room-1)...)
	}
	return lines
}

func (m *Model) matrixTitle() string {
	what := [...]string{"bytes of messages", "messages", "bytes of one-sided operations", "one-sided operations"}[m.grid.of]
	how := "since the start"
	if m.grid.rate {
		how = "per second"
	}
	g := m.Terminal.Glyphs()
	text := g.Line + g.Line + " " + what + " " + how
	var parts []string
	if n := m.groupSize(); n > 1 {
		parts = append(parts, fmt.Sprintf("%d ranks together", n))
	}
	if m.log {
		parts = append(parts, "log scale")
	}
	if len(m.pairs()) == 0 {
		parts = append(parts, "none so far")
	}
	for _, p := range append(parts, "from the rank of a line to the rank of a column") {
		if term.Width(text+", "+p) <= m.Width {
			text += ", " + p
		}
	}
	return m.Terminal.Paint(term.Place, m.Terminal.Fit(text, m.Width))
}

func (m *Model) matrixReadout() string {
	size := m.groupSize()
	rows, columns := m.span(m.grid.rows).group(m.grid.source, size), m.span(m.grid.columns).group(m.grid.destination, size)
	var all Pair
	all.BytesRate, all.MessagesRate = math.NaN(), math.NaN()
	for _, p := range m.pairs() {
		if rows.has(p.Source) && columns.has(p.Destination) {
			all.Bytes, all.Messages = all.Bytes+p.Bytes, all.Messages+p.Messages
			all.BytesRate, all.MessagesRate = sum.add(all.BytesRate, p.BytesRate), sum.add(all.MessagesRate, p.MessagesRate)
		}
	}
	what := "messages"
	if m.grid.of >= oneSidedBytes {
		what = "operations"
	}
	text := ranksText(rows.from, rows.to) + " to " + ranksText(columns.from, columns.to) + ": "
	if all.Messages == 0 {
		return m.Terminal.Cut(text+"no "+what, m.Width)
	}
	text += labelled(float64(all.Bytes), "B") + " in " + chart.Number(float64(all.Messages)) + " " + what
	if !math.IsNaN(all.BytesRate) {
		text += "; now " + labelled(all.BytesRate, "B/s") + " in " + chart.Number(all.MessagesRate) + "/s"
	}
	return m.Terminal.Cut(text, m.Width)
}

func (m *Model) greatest(lines int) []string {
	rows, columns := m.span(m.grid.rows), m.span(m.grid.columns)
	pairs := slices.DeleteFunc(slices.Clone(m.pairs()), func(p Pair) bool { return !rows.has(p.Source) || !columns.has(p.Destination) })
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(m.grid.number(&b), m.grid.number(&a)) })
	header := ""
	for _, h := range pairHeadings {
		header += fmt.Sprintf(" %*s", h.width, h.title)
	}
	out := []string{m.Terminal.Paint(term.Columns, m.Terminal.Fit(header, m.Width))}
	for i := range pairs[:min(len(pairs), lines-1)] {
		line := ""
		for k, c := range pairs[i].cells() {
			line += fmt.Sprintf(" %*s", pairHeadings[k].width, c.text)
		}
		out = append(out, line)
	}
	return out
}

var pairHeadings = []heading{{"FROM", 6, false, 0}, {"TO", 6, false, 0}, {"MESSAGES", 9, false, 0}, {"BYTES", 9, false, 0}, {"MESSAGES/s", 11, false, 2}, {"BYTES/s", 9, false, 1}}

func (p *Pair) cells() []value {
	return []value{rankOf(p.Source), rankOf(p.Destination), numberOf(float64(p.Messages)), amountOf(float64(p.Bytes), "B"), numberOf(p.MessagesRate), amountOf(p.BytesRate, "B/s")}
}

// moveGrid moves the cursor by rows and columns.
func (m *Model) moveGrid(rows, columns int) tea.Cmd {
	size := m.groupSize()
	m.grid.source += rows * size
	m.grid.destination += columns * size
	m.clampGrid()
	return nil
}

func (m *Model) openGroup() tea.Cmd {
	size := m.groupSize()
	if size == 1 {
		m.grid.rows, m.grid.columns = span{}, span{}
		return nil
	}
	m.grid.rows, m.grid.columns = m.span(m.grid.rows).group(m.grid.source, size), m.span(m.grid.columns).group(m.grid.destination, size)
	return nil
}

func (g *grid) zoomed() bool { return g.rows != (span{}) }

func (m *Model) nextQuantity() {
	m.grid.of = (m.grid.of + 1) % quantities
	if m.grid.of >= oneSidedBytes && m.frame != nil && m.frame.Matrix != nil && len(m.frame.Matrix.OneSided) == 0 {
		m.grid.of = messageBytes
	}
}

func (m *Model) pickPair(x, line int) {
	drawn, size := m.drawGrid(), m.groupSize()
	if row, column := drawn.At(x, line); row >= 0 && column >= 0 {
		m.grid.source, m.grid.destination = m.span(m.grid.rows).from+row*size, m.span(m.grid.columns).from+column*size
		m.clampGrid()
	}
}

func pairTable(pairs []Pair) *export.Rows {
	r := export.RowsOf("mpitx.top-matrix", "source destination messages bytes messages_per_second bytes_per_second")
	for i := range pairs {
		p := &pairs[i]
		r.Rows = append(r.Rows, []any{p.Source, p.Destination, p.Messages, p.Bytes, finite(p.MessagesRate), finite(p.BytesRate)})
	}
	return r
}

// next is the word for the next quantity, in the footer.
func (q quantity) next(oneSided bool) string {
	if q == messageCounts && oneSided {
		return "one-sided"
	}
	return [...]string{"messages", "bytes", "operations", "bytes"}[q]
}
