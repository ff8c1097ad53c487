package top

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"mpitx/export"
	"mpitx/recording"
	"mpitx/ui/chart"
	"mpitx/ui/program"
	"mpitx/ui/term"
)

const (
	headerLines = 2 // above the table's heading
	leastWidth  = 40
	leastHeight = 8
)

// View is the screen.
func (m *Model) View() tea.View {
	return program.View(m.terminal, m.Render(m.width, m.height), "mpitx top")
}

// Render is the screen as text: height lines of at most width cells.
func (m *Model) Render(width, height int) string {
	var lines []string
	switch {
	case width < leastWidth || height < leastHeight:
		lines = term.Wrap(fmt.Sprintf("mpitx top needs %dx%d cells; these are %dx%d. q quits.", leastWidth, leastHeight, width, height), max(width, 1))
	case m.frame == nil:
		lines = []string{"mpitx top: reading the run" + m.ellipsis()}
	case m.text != nil:
		lines = m.textScreen(height)
	default:
		lines = m.screen()
	}
	lines = lines[:min(len(lines), max(height, 0))]
	for i := range lines {
		lines[i] = m.terminal.Cut(lines[i], width)
	}
	return strings.Join(lines, "\n")
}

func (m *Model) ellipsis() string {
	if m.terminal.UTF8 {
		return "…"
	}
	return "..."
}

func (m *Model) screen() []string {
	lines := []string{m.title(), m.status()}
	if !m.zoom {
		lines = append(lines, m.table()...)
	}
	if n := m.paneHeight(); n > 0 {
		lines = append(lines, m.paneTitle())
		lines = append(lines, m.drawPane(n-1)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return append(lines[:m.height-1], m.footer())
}

// paneHeight is that of what is below the table, with its title.
func (m *Model) paneHeight() int {
	switch {
	case m.pane == paneNone:
		return 0
	case m.zoom:
		return m.height - headerLines - 1
	}
	n := (m.height - headerLines - 2) / 2
	if want := len(m.entries); want < n { // a short table leaves it more
		n = m.height - headerLines - 2 - max(want, 1)
	}
	if m.pane == paneHeat && m.frame != nil {
		n = min(n, len(m.frame.Ranks)+2)
	}
	if n < 3 {
		return 0
	}
	return n
}

// rows is how many lines of the table are seen.
func (m *Model) rows() int {
	return max(m.height-headerLines-2-m.paneHeight(), 0)
}

// title says which run this is, and what its ranks are doing.
func (m *Model) title() string {
	f := m.frame
	counts, words := map[string]int{}, []string{"running", "silent", "finalize", "ended", "exit", "abort", "switched-off", "died", "unreachable"}
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
	room := max(m.width-term.Width(text)-2, 10)
	return m.terminal.Paint(term.Style{Bold: true}, m.terminal.Cut(m.terminal.Safe(f.Dir), room)) + "  " + text
}

// status is what must be known: the worst first.
func (m *Model) status() string {
	f := m.frame
	warn := func(s string) string { return m.terminal.Paint(term.Style{Color: term.Warn, Bold: true}, "! "+s) }
	var parts []string
	if m.paused {
		parts = append(parts, warn("paused"))
	}
	if f.Broken != "" {
		parts = append(parts, warn("can no longer be read: "+m.terminal.SafeLine(f.Broken, m.width)))
	}
	if s := m.trouble(); s != "" {
		parts = append(parts, warn(s))
	}
	switch {
	case f.NoRoom != "":
		parts = append(parts, warn(f.NoRoom))
	case f.Lost > 0:
		parts = append(parts, warn(fmt.Sprintf("%s samples lost", chart.Number(float64(f.Lost)))))
	}
	if n := len(f.Damage); n > 0 {
		parts = append(parts, warn(fmt.Sprintf("%d damaged places: %s", n, m.terminal.SafeLine(f.Damage[0], m.width))))
	}
	if f.Behind {
		parts = append(parts, "reading"+m.ellipsis())
	}
	switch filter := m.filters[m.view]; {
	case m.mode == modeFilter:
		parts = append([]string{m.terminal.Paint(term.Style{Color: term.Accent}, "filter: ") + m.line.Render(m.terminal, max(m.width/2, 10))}, parts...)
	case filter != "":
		parts = append([]string{"filter: " + m.terminal.Safe(filter)}, parts...)
	}
	if len(parts) == 0 {
		live := "ended"
		if f.Live {
			live = "live"
		}
		parts = []string{m.terminal.Paint(term.Style{Color: term.Muted}, fmt.Sprintf("%s, %s samples, values: %s", live, chart.Number(float64(f.Samples)), asWord(m.as)))}
	}
	if m.view == viewRanks {
		parts = append([]string{m.terminal.Paint(term.Style{Color: term.Accent}, "ranks of "+m.terminal.Safe(m.selected.Variable))}, parts...)
	}
	place := fmt.Sprintf(" %d of %d", m.cursor+1, len(m.entries))
	if len(m.entries) == 0 {
		place = ""
	}
	return m.terminal.Fit(strings.Join(parts, "  "), m.width-len(place)) + m.terminal.Paint(term.Style{Color: term.Muted}, place)
}

// trouble names the ranks that are not as they should be.
func (m *Model) trouble() string {
	ranks := map[string][]int{}
	for i := range m.frame.Ranks {
		r := &m.frame.Ranks[i]
		switch {
		case r.Silent:
			ranks["no sample lately"] = append(ranks["no sample lately"], r.Rank)
		case r.State == recording.StateDied, r.State == recording.StateUnreachable:
			ranks[r.State.String()] = append(ranks[r.State.String()], r.Rank)
		}
	}
	var parts []string
	for _, word := range []string{"died", "no sample lately", "unreachable"} {
		if len(ranks[word]) > 0 {
			parts = append(parts, word+": "+export.Ranks(ranks[word]))
		}
	}
	return strings.Join(parts, "; ")
}

func asWord(as recording.Transform) string {
	return [...]string{"by class", "raw", "since the start", "per second"}[min(int(as), 3)]
}

func (m *Model) headings() []heading {
	if m.view == viewRanks {
		return rankHeadings
	}
	return variableHeadings
}

func (m *Model) layout() (widths []int, trend int) {
	return layout(m.headings(), func(i int) int {
		n := 0
		for k := range m.entries {
			n = max(n, term.Width(m.terminal.Safe(m.entries[k].cells[i].text)))
		}
		return n
	}, m.width)
}

// table is the heading and the lines that are seen.
func (m *Model) table() []string {
	widths, trend := m.layout()
	var head strings.Builder
	for i, h := range m.headings() {
		if widths[i] == 0 {
			continue
		}
		title := h.title
		if m.orders[m.view].column == i {
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
	lines := []string{m.terminal.Paint(term.Style{Bold: true, Underline: true}, term.Pad(head.String(), m.width))}
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
	if m.orders[m.view].reverse {
		return g.Down
	}
	return g.Up
}

func (m *Model) emptyText() string {
	switch {
	case m.filters[m.view] != "":
		return "Nothing passes the filter: Esc clears it."
	case m.frame.Live:
		return "Nothing was sampled yet."
	}
	return "Nothing was sampled in this run."
}

func (m *Model) row(i int, widths []int, trend int) string {
	e := &m.entries[i]
	var b strings.Builder
	mark := " "
	switch {
	case i == m.cursor:
		mark = m.terminal.Glyphs().Arrow
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
		text := m.terminal.Safe(e.cells[k].text)
		switch {
		case k == 0 && h.left:
			b.WriteString(m.terminal.FitMiddle(text, widths[k]))
		case e.cells[k].isText && !h.left: // over the numbers that there are not
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
	case i == m.cursor:
		text = m.terminal.Paint(term.Style{Reverse: true}, text)
	case e.warn:
		text = m.terminal.Paint(term.Style{Color: term.Warn}, text)
	}
	if trend > 0 {
		text += " " + chart.Sparkline(e.trend, trend, m.terminal)
	}
	return text
}

// spread gives column k the room of the columns behind it that hold nothing.
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

// footer is the command line, what came of the last one, or the keys.
func (m *Model) footer() string {
	switch {
	case m.mode == modeCommand:
		return ":" + m.line.Render(m.terminal, m.width-1)
	case m.note != "":
		return m.terminal.Paint(term.Style{Bold: true}, m.terminal.SafeLine(m.note, m.width))
	}
	all := slices.Clone(hints)
	for i := range all {
		switch {
		case all[i] == "Enter ranks" && m.view == viewRanks:
			all[i] = "Enter variables"
		case all[i] == "Space pause" && m.paused:
			all[i] = "Space resume"
		case all[i] == "m map" && m.pane != paneNone:
			all[i] = "m " + [...]string{"chart", "table"}[m.pane]
		}
	}
	if m.frame != nil && m.frame.Over { // there is nothing to pause
		all = slices.DeleteFunc(all, func(h string) bool { return h == "Space pause" })
	}
	return m.hints(all...)
}

// hints are keys and what they do, as many as there is room for: the first are the most important.
func (m *Model) hints(hints ...string) string {
	line := ""
	for _, h := range hints {
		i := strings.LastIndexByte(h, ' ')
		if h = m.terminal.Paint(term.Style{Bold: true}, h[:i]) + h[i:]; term.Width(line)+2+term.Width(h) <= m.width+2 {
			line += "  " + h
		}
	}
	return strings.TrimPrefix(line, "  ")
}
