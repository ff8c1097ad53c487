package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/recording/trace"
	"mpitx/text"
	"mpitx/ui/chart"
	"mpitx/ui/screen"
	"mpitx/ui/screen/keys"
	"mpitx/ui/screen/pager"
	"mpitx/ui/term"
)

const (
	headerLines = 4 // title, status, phases and axis, above the rows
	leastWidth  = 40
	leastDetail = 4  // lines
	mostDetail  = 14 // lines
	mostLegend  = 2  // lines
	tall        = 20 // lines of a screen with room for them
)

// View is the screen.
func (m *Model) View() tea.View { return m.Screen.View(m.Render) }

// Render is the screen as text.
func (m *Model) Render() string { return m.Screen.Render(m.title(), m.body) }

func (m *Model) body(lines []string) []string {
	switch {
	case m.frame == nil:
		text := m.Waiting("Reading the trace", "The trace is shown here as soon as its job records calls.")
		return m.fill(append(append(lines, ""), pager.Wrap(m.Terminal, m.Width, text)...))
	case len(m.frame.Rows) == 0 || m.frame.To <= m.frame.From:
		return m.fill(append(append(lines, ""), pager.Wrap(m.Terminal, m.Width, m.empty())...))
	}
	return m.screen(lines)
}

func (m *Model) empty() string {
	if m.frame.Live {
		return "No MPI call has been recorded yet. Calls are shown here as soon as they are."
	}
	return "No MPI call was recorded in this run, or none in the chosen ranks and time."
}

func (m *Model) fill(lines []string) []string {
	if m.once {
		if m.Note != "" {
			lines = append(lines, m.Note)
		}
		return lines
	}
	return m.Fill(lines)
}

func (m *Model) screen(lines []string) []string {
	lines = append(lines, m.status(), m.phases(), m.axis())
	for i := range m.frame.Cells {
		lines = append(lines, m.row(i))
	}
	rows, _ := m.room()
	for !m.once && len(lines) < headerLines+rows && len(m.frame.Rows) > rows {
		lines = append(lines, "")
	}
	lines = append(lines, m.legend(m.legendRoom(len(lines)))...)
	switch {
	case m.once:
		lines = append(lines, m.detail(mostDetail)...)
	case !m.zoom:
		lines = append(lines, m.detail(m.Height-1-len(lines))...)
	}
	return m.fill(lines)
}

// legendRoom is how many lines the legend may have after those above it.
func (m *Model) legendRoom(above int) int {
	if m.once || m.Height >= tall && above+mostLegend < m.Height {
		return mostLegend
	}
	return 1
}

// room is how many rows and columns of cells are visible.
func (m *Model) room() (rows, columns int) {
	rows = m.Height - headerLines - 2 // legend, footer
	if !m.zoom {
		detail := min(max(m.needed, leastDetail), m.roomForDetail())
		if m.frame != nil && len(m.frame.Rows) > 0 { // what few rows leave is for the details
			detail = max(detail, rows-len(m.frame.Rows))
		}
		rows -= detail
	}
	return max(rows, 1), max(m.Width-m.margin()-1, 1)
}

func (m *Model) roomForDetail() int { return min(max(m.Height/3, leastDetail), mostDetail) }

// measure notes how many lines the details have needed so far. Rows have the others, and keep their places as the cursor moves.
func (m *Model) measure() {
	if m.frame == nil || m.frame.Detail == nil || len(m.frame.Rows) == 0 {
		return
	}
	m.needed = max(m.needed, len(m.detail(m.roomForDetail()))+len(m.legend(m.legendRoom(0)))-1)
}

// resized says whether the details need more lines than before, so that fewer rows are visible, or the names of rows more columns than were
// known when the frame was asked for.
func (m *Model) resized() bool {
	before, _ := m.room()
	m.measure()
	now, columns := m.room()
	return now < before && len(m.frame.Cells) > now || m.frame.Window.Columns > columns
}

// margin is the width of the names of rows.
func (m *Model) margin() int {
	longest := 0
	if m.frame != nil {
		for i := range m.frame.Rows {
			longest = max(longest, len(m.name(m.frame.Rows[i].Track)))
		}
	}
	n := max(longest, 4)
	if longest > 0 && m.frame.Phased {
		n = max(n, len(phaseOf)+longest-1)
	}
	return n + 2
}

// name is the rank of a row, and the number of its thread if it is not the rank's first one.
func (m *Model) name(t *trace.Track) string {
	name := strconv.Itoa(t.Rank.Rank)
	if t.Number > 0 {
		name += "." + strconv.Itoa(t.Number)
	}
	return name
}

func (m *Model) title() string {
	if m.frame == nil {
		return m.Title("", "")
	}
	f := m.frame
	words := text.Count(f.Ranks, "rank")
	if f.Chosen < f.Ranks {
		words = fmt.Sprintf("%d of %s", f.Chosen, words)
	}
	switch span := f.To - f.From; {
	case len(f.Rows) == 0:
	case span < 10*time.Millisecond:
		words += ", " + m.amount(span)
	default:
		words += ", " + chart.Duration(span)
	}
	if f.Live {
		words += ", live"
	}
	return m.Title(f.Dir, words)
}

func (m *Model) status() string {
	f := m.frame
	parts := m.Warnings()
	if m.Mode == screen.Words {
		parts = append([]string{m.Typed("search: ")}, parts...)
	} else if m.words != "" {
		parts = append([]string{m.Terminal.Paint(term.Place, "search: "+m.Terminal.Safe(m.words))}, parts...)
	}
	shown := "the whole time"
	if f.Part || !f.Whole {
		shown = "from " + m.time(f.Window.From) + " to " + m.time(f.Window.To)
	}
	shown += ", " + m.amount((f.Window.To-f.Window.From)/time.Duration(f.Window.Columns)) + " a column"
	if f.Behind {
		shown += fmt.Sprintf(", %d %% read", int(f.Read*100))
	} else if f.Sampled {
		shown += ", a sample: zoom in for all calls"
	}
	if m.order != ByRank {
		shown += ", by " + [...]string{"", "time in MPI", "calls"}[m.order]
		if m.reverse {
			shown += ", least first"
		}
	} else if m.reverse {
		shown += ", last rank first"
	}
	parts = append(parts, m.Terminal.Paint(term.Label, shown))
	place := ""
	if n := len(f.Rows); n > len(f.Cells) {
		place = fmt.Sprintf("  rows %d-%d of %d", f.Top+1, f.Top+len(f.Cells), n)
	}
	return m.Status(" "+strings.Join(parts, "  "), place)
}

func (m *Model) amount(d time.Duration) string { return m.Terminal.Amount(float64(d), "ns") }

func (m *Model) hints() []keys.Key {
	list := []keys.Key{keys.Of(keys.Help), keys.Of(keys.Quit)}
	if m.zoom {
		list = append(list, keys.Of(keys.Zoom).With("", "show the call"))
	}
	if m.frame != nil && len(m.frame.Rows) > 0 {
		list = append(list, m.timeKeys.Bindings[0].Key, m.timeKeys.Bindings[1].Key, m.timeKeys.Bindings[8].Key)
		if m.frame.Detail != nil && len(m.frame.Detail.Messages) > 0 {
			list = append(list, keys.Of(keys.Open).With("", "other side"), keys.Of(keys.NextPane).With("", "messages"))
		}
		list = append(list, keys.Of(keys.Search))
		if m.frame.Waits != nil {
			list = append(list, keys.Key{Names: []string{"w"}, Hint: "calls"}, keys.Key{Names: []string{"c"}, Hint: "critical path"})
		} else {
			list = append(list, keys.Key{Names: []string{"w"}, Hint: "waits"})
		}
		list = append(list, keys.Of(keys.Values).With("", map[bool]string{false: "functions", true: "kinds"}[m.byFunction]))
		if m.frame.Live {
			list = append(list, keys.Of(keys.Pause).With("", map[bool]string{false: "pause", true: "resume"}[m.Paused]))
		}
		list = append(list, keys.Of(keys.Export), keys.Of(keys.Messages))
	}
	return list
}
