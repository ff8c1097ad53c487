package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
)

const (
	headerLines = 2 // above the table's heading
	leastRows   = 5 // of the table, next to a chart
	leastWidth  = 40
	leastHeight = 8
)

// View is the screen. It is asked for after every message, also after those that change nothing.
func (m *Model) View() tea.View {
	if m.rendered == "" {
		m.rendered = m.Render(m.width, m.height)
	}
	return program.View(m.terminal, m.rendered, "mpitx top")
}

// Render is the screen as text: height lines of at most width cells.
func (m *Model) Render(width, height int) string {
	var lines []string
	switch {
	case width < leastWidth || height < leastHeight:
		lines = term.Wrap(fmt.Sprintf("mpitx top needs %dx%d cells; this terminal has %dx%d. q quits.", leastWidth, leastHeight, width, height), max(width, 1))
	case m.text != nil && m.frame != nil:
		lines = append([]string{m.title()}, m.pager.Screen(m.terminal, m.text(), m.width, height-1)...)
	case m.text != nil:
		lines = m.pager.Screen(m.terminal, m.text(), m.width, height)
	case m.frame == nil:
		lines = m.waitScreen(height)
	default:
		lines = m.screen()
	}
	lines = lines[:min(len(lines), max(height, 0))]
	for i := range lines {
		lines[i] = m.terminal.Cut(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

// waitScreen says what is missing, before there is something to show.
func (m *Model) waitScreen(height int) []string {
	text := "Reading the run" + m.terminal.Ellipsis()
	if m.awaited != "" {
		text = "Waiting for the run. " + m.terminal.SafeText(m.awaited) + ".\n\nThe run is shown here as soon as its job records something."
	}
	lines := []string{m.terminal.Paint(term.Title, m.terminal.Fit(" mpitx top", m.width)), ""}
	for _, l := range term.Wrap(text, max(m.width-2, 10)) {
		lines = append(lines, "  "+l)
	}
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	return append(lines[:height-1], m.footer())
}

func (m *Model) screen() []string {
	lines := []string{m.title(), m.status()}
	switch {
	case m.view == viewMatrix:
		lines = append(lines, m.matrixLines()...)
	case !m.zoom:
		lines = append(lines, m.table()...)
	}
	if n := m.paneHeight(); n > 0 {
		lines = append(lines, m.paneLines(n)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines[:m.height-1], m.footer())
}

// rows is how many lines of the table are visible.
func (m *Model) rows() int {
	return max(min(m.height-headerLines-2-m.paneHeight(), max(len(m.entries), 1)), 0)
}

// title says which run this is, and what its ranks are doing.
func (m *Model) title() string {
	f := m.frame
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
	size := fmt.Sprintf("%d ranks", max(f.Size, len(f.Ranks)))
	if size == "1 ranks" {
		size = "1 rank"
	}
	if f.Size > len(f.Ranks) {
		size = fmt.Sprintf("%d of %d ranks", len(f.Ranks), f.Size)
	}
	text := fmt.Sprintf("%s  %s: %s", chart.Duration(f.Time), size, strings.Join(parts, ", "))
	const program = " mpitx top  "
	room := max(m.width-term.Width(program+text)-3, 10)
	return m.terminal.Paint(term.Title, m.terminal.Fit(program+m.terminal.Cut(m.terminal.Safe(f.Dir), room)+"  "+text, m.width))
}

// status is what is wrong, the worst first, and what is shown.
func (m *Model) status() string {
	f := m.frame
	warn := func(s string) string { return m.terminal.Paint(term.Attention, "! "+s) }
	var parts []string
	if m.paused {
		parts = append(parts, warn("paused"))
	}
	if f.Broken != "" {
		parts = append(parts, warn("cannot be read any more: "+m.terminal.SafeLine(f.Broken, m.width)))
	}
	if s := m.trouble(); s != "" {
		parts = append(parts, warn(s))
	}
	switch {
	case f.NoRoom != "":
		parts = append(parts, warn(f.NoRoom))
	case f.Lost > 0:
		parts = append(parts, warn(samples(f.Lost)+" lost"))
	}
	if f.Profile != "" {
		parts = append(parts, warn("cannot read the profile: "+m.terminal.SafeLine(f.Profile, m.width)))
	}
	if n := len(f.Damage); n > 0 {
		parts = append(parts, warn(fmt.Sprintf("%d damaged: %s", n, m.terminal.SafeLine(f.Damage[0].Error(), m.width))))
	}
	if f.Behind {
		parts = append(parts, "reading"+m.terminal.Ellipsis())
	}
	switch filter := m.filters[m.list()]; {
	case m.mode == modeFilter:
		parts = append([]string{m.terminal.Paint(term.Place, "filter: ") + m.line.Render(m.terminal, max(m.width/2, 10))}, parts...)
	case filter != "":
		parts = append([]string{"filter: " + m.terminal.Safe(filter)}, parts...)
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
		parts = []string{m.terminal.Paint(term.Label, text)}
	}
	if m.view == viewRanks {
		parts = append([]string{m.terminal.Paint(term.Place, "ranks of "+m.terminal.Safe(m.selected.Variable))}, parts...)
	}
	place := fmt.Sprintf(" %d of %d", m.cursor+1, len(m.entries))
	if len(m.entries) == 0 || m.zoom {
		place = ""
	}
	return m.terminal.Fit(strings.Join(parts, "  "), m.width-len(place)) + m.terminal.Paint(term.Label, place)
}

func samples(n uint64) string {
	if n == 1 {
		return "1 sample"
	}
	return chart.Number(float64(n)) + " samples"
}

// trouble names the ranks that died, are silent, or cannot be reached.
func (m *Model) trouble() string {
	ranks := map[string][]int{}
	for i := range m.frame.Ranks {
		r := &m.frame.Ranks[i]
		switch {
		case r.Silent:
			ranks["no sample lately"] = append(ranks["no sample lately"], r.Rank)
		case r.State == recording.StateDied, r.State == recording.StateUnreachable, r.State == recording.StateDamaged:
			ranks[r.State.String()] = append(ranks[r.State.String()], r.Rank)
		}
	}
	var parts []string
	for _, word := range []string{"died", "damaged", "no sample lately", "unreachable"} {
		if len(ranks[word]) > 0 {
			parts = append(parts, word+": "+text.Ranks(ranks[word]))
		}
	}
	if ranks := m.frame.incomplete(); len(ranks) > 0 {
		parts = append(parts, "incomplete: "+text.Ranks(ranks))
	}
	return strings.Join(parts, "; ")
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
			n = max(n, term.Width(m.terminal.Safe(m.entries[k].cells[i].text)))
		}
		return n
	}, m.width)
}

// table is the heading and the visible lines.
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
			head.WriteString(" " + m.terminal.Fit(title, widths[i]))
		} else {
			head.WriteString(" " + m.terminal.FitRight(title, widths[i]))
		}
	}
	if trend > 0 {
		head.WriteString(" " + m.terminal.Fit("TREND", trend))
	}
	lines := []string{m.terminal.Paint(term.Columns, term.Pad(head.String(), m.width))}
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
	g := m.terminal.Glyphs()
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
		return "Reading the profile" + m.terminal.Ellipsis()
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
			text = m.terminal.Units(text)
		}
		text = m.terminal.Safe(text)
		switch {
		case k == 0 && h.left:
			b.WriteString(m.terminal.FitMiddle(text, widths[k]))
		case e.cells[k].isText && !h.left: // in place of numbers
			widths = spread(e.cells, widths, k)
			b.WriteString(m.terminal.Fit(text, widths[k]))
		case h.left:
			b.WriteString(m.terminal.Fit(text, widths[k]))
		default:
			b.WriteString(m.terminal.FitRight(text, widths[k]))
		}
	}
	text := b.String()
	switch {
	case i == m.cursor && trend == 0:
		text = m.terminal.Paint(term.Chosen(!m.focused()), term.Pad(text, m.width))
	case i == m.cursor: // the bars are not reversed: high ones would look like none
		text = m.terminal.Paint(term.Chosen(!m.focused()), text)
	case e.warn:
		text = m.terminal.Paint(term.Warning, text)
	}
	if trend > 0 {
		text += " " + chart.Sparkline(e.trend, trend, m.frame.Whole, m.terminal)
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
