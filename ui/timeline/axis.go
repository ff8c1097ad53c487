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

// leastPhase is how many cells a phase needs to be named.
const leastPhase = 3

// phases is the line of the phases of the cursor's thread. Those that are too short are left out.
func (m *Model) phases() string {
	f := m.frame
	if !slices.ContainsFunc(f.Phases, func(s string) bool { return s != "" }) {
		return ""
	}
	var b strings.Builder
	g := m.Terminal.Glyphs()
	for c := 0; c < len(f.Phases); {
		end := c
		for end < len(f.Phases) && f.Phases[end] == f.Phases[c] {
			end++
		}
		text := ""
		if f.Phases[c] != "" && end-c >= leastPhase {
			text = g.Bar + m.Terminal.Cut(m.Terminal.Safe(f.Phases[c]), end-c-1)
			text += strings.Repeat(g.Line, end-c-term.Width(text))
		}
		b.WriteString(term.Pad(text, end-c))
		c = end
	}
	return m.Terminal.Paint(term.Label, m.Terminal.Fit(phaseOf+m.name(f.Place.Track), m.margin())) + m.Terminal.Paint(term.Place, b.String())
}

const phaseOf = "phase "

type label struct {
	column, from int // of its mark; of its text
	text         string
}

// labels chooses times that have room on the axis, at most n, and leaves the cursor's column free: the text is after its mark, or before.
func (m *Model) labels(n, cursor int) (all []label) {
	w := m.frame.Window
	step := (w.To - w.From) / time.Duration(n)
	free := 0
	for _, x := range chart.Ticks(w.From.Seconds(), w.To.Seconds(), n) {
		at := time.Duration(math.Round(x * 1e9))
		c := w.Column(min(max(at, w.From), w.To-1))
		text := seconds(at, max(step/2, 1)) + " "
		width := term.Width(text)
		fits := func(from int) bool {
			return from >= free && from+width <= w.Columns && (cursor < from || cursor >= from+width)
		}
		l := label{c, c + 1, text}
		if !fits(l.from) {
			l.from, l.text = c-width, " "+strings.TrimSpace(text)
		}
		if c < free || !fits(l.from) {
			continue
		}
		all = append(all, l)
		free = max(c+1, l.from+width)
	}
	return all
}

func (m *Model) axis() string {
	w := m.frame.Window
	g := m.Terminal.Glyphs()
	line := make([]string, w.Columns)
	for i := range line {
		line[i] = g.Line
	}
	cursor := w.Column(m.frame.Place.Time)
	n := max(w.Columns/16, 2)
	labels := m.labels(n, cursor)
	for i := 1; i <= 2 && len(labels) < 2; i++ {
		if more := m.labels(n+2*i, cursor); len(more) > len(labels) {
			labels = more
		}
	}
	for _, l := range labels {
		line[l.column] = g.Bar
		for i, r := range []rune(l.text) {
			line[l.from+i] = string(r)
		}
	}
	line[cursor] = g.Down
	return m.Terminal.Paint(term.Label, m.Terminal.Fit("rank", m.margin())+strings.Join(line, ""))
}
