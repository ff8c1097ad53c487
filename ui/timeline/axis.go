package timeline

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"mpitx/ui/chart"
	"mpitx/ui/term"
)

// time is a time since the start of the job, as exact as the window needs.
func (m *Model) time(t time.Duration) string {
	cell := max((m.frame.Window.To-m.frame.Window.From)/time.Duration(m.frame.Window.Columns), 1)
	return seconds(t, cell)
}

// seconds is a time with the digits that tell it from another one that is apart by step.
func seconds(t, step time.Duration) string {
	digits := max(min(9-int(math.Log10(float64(step))), 9), 0)
	return strconv.FormatFloat(t.Seconds(), 'f', digits, 64) + " s"
}

// phases is the line of the phases of the cursor's thread.
func (m *Model) phases() string {
	f := m.frame
	if !slices.ContainsFunc(f.Phases, func(s string) bool { return s != "" }) {
		return ""
	}
	var b strings.Builder
	line := m.terminal.Glyphs().Line
	for c := 0; c < len(f.Phases); {
		end := c
		for end < len(f.Phases) && f.Phases[end] == f.Phases[c] {
			end++
		}
		text := ""
		if f.Phases[c] != "" {
			text = m.terminal.Cut(m.terminal.Safe(f.Phases[c]), end-c)
			text += strings.Repeat(line, end-c-term.Width(text))
		}
		b.WriteString(term.Pad(text, end-c))
		c = end
	}
	return m.terminal.Paint(term.Label, m.terminal.Fit("phase", m.margin())) + m.terminal.Paint(term.Place, b.String())
}

// axis is the line of time, with a mark over the cursor's column.
func (m *Model) axis() string {
	w := m.frame.Window
	g := m.terminal.Glyphs()
	line := make([]string, w.Columns)
	for i := range line {
		line[i] = g.Line
	}
	put := func(at int, text string) {
		for i, r := range []rune(text) {
			if at+i < len(line) {
				line[at+i] = string(r)
			}
		}
	}
	step := (w.To - w.From) / time.Duration(max(w.Columns/16, 2))
	last := -1
	for _, x := range chart.Ticks(w.From.Seconds(), w.To.Seconds(), max(w.Columns/16, 2)) {
		c := w.Column(min(max(time.Duration(math.Round(x*1e9)), w.From), w.To-1))
		text := g.Bar + seconds(time.Duration(math.Round(x*1e9)), max(step/2, 1)) + " "
		if c <= last || c+term.Width(text) > w.Columns {
			continue
		}
		put(c, text)
		last = c + term.Width(text)
	}
	line[w.Column(m.frame.Place.Time)] = g.Down
	return m.terminal.Paint(term.Label, m.terminal.Fit("rank", m.margin())+strings.Join(line, ""))
}
