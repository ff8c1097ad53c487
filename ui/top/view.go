package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/screen"
	"mpitx/ui/term"
)

const (
	headerLines = 2 // above the table's heading
	leastRows   = 5 // of the table, next to a chart
)

// View is the screen.
func (m *Model) View() tea.View { return m.Screen.View(m.Render) }

// Render is the screen as text.
func (m *Model) Render() string { return m.Screen.Render(m.title(), m.body) }

func (m *Model) body(lines []string) []string {
	if m.frame == nil {
		return m.Fill(append(append(lines, ""), m.waitLines()...))
	}
	lines = append(lines, m.status())
	switch {
	case m.view == viewMatrix:
		lines = append(lines, m.matrixLines()...)
	case !m.zoom:
		lines = append(lines, m.table()...)
	}
	if n := m.paneHeight(); n > 0 {
		lines = append(lines, m.paneLines(n)...)
	}
	return m.Fill(lines)
}

func (m *Model) waitLines() (lines []string) {
	text := m.Waiting("Reading the run", "The run is shown here as soon as its job records something.")
	for _, l := range term.Wrap(text, max(m.Width-2, 10)) {
		lines = append(lines, "  "+l)
	}
	return lines
}

func (m *Model) rows() int {
	return max(min(m.Height-headerLines-2-m.paneHeight(), max(len(m.entries), 1)), 0)
}

func (m *Model) title() string {
	f := m.frame
	if f == nil {
		return m.Title("", "")
	}
	counts, words := map[string]int{}, []string{"running", "silent", "finalize", "ended", "exit", "abort", "switched-off", "died", "unreachable", "damaged"}
	for i := range f.Ranks {
		counts[f.Ranks[i].Word()]++
	}
	var parts []string
	for _, w := range words {
		if n := counts[w]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, w))
		}
	}
	size := text.Count(max(f.Size, len(f.Ranks)), "rank")
	if f.Size > len(f.Ranks) {
		size = fmt.Sprintf("%d of %d ranks", len(f.Ranks), f.Size)
	}
	return m.Title(f.Dir, fmt.Sprintf("%s  %s: %s", chart.Duration(f.Time), size, strings.Join(parts, ", ")))
}

// status is what is wrong, the worst first, and what is shown.
func (m *Model) status() string {
	f := m.frame
	parts := m.Warnings()
	if f.Behind {
		parts = append(parts, "reading"+m.Terminal.Ellipsis())
	}
	switch filter := m.filters[m.list()]; {
	case m.Mode == screen.Words:
		parts = append([]string{m.Typed("filter: ")}, parts...)
	case filter != "":
		parts = append([]string{"filter: " + m.Terminal.Safe(filter)}, parts...)
	}
	if len(parts) == 0 {
		live := "ended"
		if f.Live {
			live = "live"
		}
		text := live + ", profile"
		switch m.home {
		case viewVariables:
			text = fmt.Sprintf("%s, %s, values: %s", live, samples(f.Samples), asWord(m.as))
		case viewFunctions:
			text += ", over time: " + metricWord(m.metric)
		}
		parts = []string{m.Terminal.Paint(term.Label, text)}
	}
	if m.view == viewRanks {
		parts = append([]string{m.Terminal.Paint(term.Place, "ranks of "+m.Terminal.Safe(m.selected.Variable))}, parts...)
	}
	place := fmt.Sprintf(" %d of %d", m.cursor+1, len(m.entries))
	if len(m.entries) == 0 || m.zoom {
		place = ""
	}
	return m.Status(strings.Join(parts, "  "), place)
}

func samples(n uint64) string {
	if n == 1 {
		return "1 sample"
	}
	return chart.Number(float64(n)) + " samples"
}

func asWord(as recording.Transform) string {
	return [...]string{"by class", "raw", "since the start", "per second"}[min(int(as), 3)]
}

func (m *Model) headings() []heading {
	return [views][]heading{variableHeadings, functionHeadings, nil, rankHeadings, functionRankHeadings}[m.list()]
}

func (m *Model) layout() (widths []int, trend int) {
	if widths, trend = m.room(); m.home == viewFunctions && (m.frame == nil || !m.frame.Watched) {
		trend = 0
	}
	return widths, trend
}

// room is the layout of the table if there are trends.
func (m *Model) room() (widths []int, trend int) {
	return layout(m.headings(), func(i int) int {
		n := 0
		for k := range m.entries {
			n = max(n, term.Width(m.Terminal.Safe(m.entries[k].cells[i].text)))
		}
		return n
	}, m.Width)
}

func (m *Model) table() []string {
	widths, trend := m.layout()
	var head strings.Builder
	for i, h := range m.headings() {
		if widths[i] == 0 {
			continue
		}
		title := h.title
		if m.orders[m.list()].column == i {
			title = m.arrow() + title
		}
		if h.left {
			head.WriteString(" " + m.Terminal.Fit(title, widths[i]))
		} else {
			head.WriteString(" " + m.Terminal.FitRight(title, widths[i]))
		}
	}
	if trend > 0 {
		head.WriteString(" " + m.Terminal.Fit("TREND", trend))
	}
	lines := []string{m.Terminal.Paint(term.Columns, term.Pad(head.String(), m.Width))}
	rows := m.rows()
	for i := m.top; i < min(m.top+rows, len(m.entries)); i++ {
		lines = append(lines, m.row(i, widths, trend))
	}
	if len(m.entries) == 0 && rows > 0 {
		lines = append(lines, " "+m.emptyText())
	}
	for len(lines) < rows+1 {
		lines = append(lines, "")
	}
	return lines
}

func (m *Model) arrow() string {
	g := m.Terminal.Glyphs()
	if m.orders[m.list()].reverse {
		return g.Down
	}
	return g.Up
}

func (m *Model) emptyText() string {
	switch {
	case m.filters[m.list()] != "":
		return "The filter hides everything. F clears it."
	case m.home != viewVariables && m.frame.Profile != "":
		return "The profile cannot be read."
	case m.home == viewFunctions && m.frame.Functions == nil, m.home == viewMatrix:
		return "Reading the profile" + m.Terminal.Ellipsis()
	case m.home != viewVariables:
		return "No function has been called yet."
	case m.frame.Live:
		return "Nothing has been sampled yet."
	}
	return "Nothing was sampled in this run."
}

func (m *Model) row(i int, widths []int, trend int) string {
	e := &m.entries[i]
	var b strings.Builder
	mark := " "
	switch {
	case i == m.cursor:
		mark = ">"
	case e.warn:
		mark = "!"
	}
	b.WriteString(mark)
	first := true
	for k, h := range m.headings() {
		if widths[k] == 0 {
			continue
		}
		if !first {
			b.WriteString(" ")
		}
		first = false
		text := e.cells[k].text
		if !e.cells[k].isText {
			text = m.Terminal.Units(text)
		}
		text = m.Terminal.Safe(text)
		switch {
		case k == 0 && h.left:
			b.WriteString(m.Terminal.FitMiddle(text, widths[k]))
		case e.cells[k].isText && !h.left: // in place of numbers
			widths = spread(e.cells, widths, k)
			b.WriteString(m.Terminal.Fit(text, widths[k]))
		case h.left:
			b.WriteString(m.Terminal.Fit(text, widths[k]))
		default:
			b.WriteString(m.Terminal.FitRight(text, widths[k]))
		}
	}
	text := b.String()
	switch {
	case i == m.cursor && trend == 0:
		text = m.Terminal.Paint(term.Chosen(!m.focused()), term.Pad(text, m.Width))
	case i == m.cursor: // the bars are not reversed: high ones would look like none
		text = m.Terminal.Paint(term.Chosen(!m.focused()), text)
	case e.warn:
		text = m.Terminal.Paint(term.Warning, text)
	}
	if trend > 0 {
		text += " " + chart.Sparkline(e.trend, trend, m.frame.Whole, m.Terminal)
	}
	return text
}

// spread gives column k the room of the empty columns after it.
func spread(cells []value, widths []int, k int) []int {
	widths = slices.Clone(widths)
	for j := k + 1; j < len(widths) && cells[j].missing(); j++ {
		if widths[j] > 0 {
			widths[k] += 1 + widths[j]
			widths[j] = 0
		}
	}
	return widths
}
