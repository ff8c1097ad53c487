package timeline

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/colorprofile"

	"mpitx/text"
	"mpitx/ui/term"
)

// glyph is what a cell shows.
type glyph struct {
	text  string
	style term.Style
}

func (m *Model) row(i int) string {
	f := m.frame
	t := f.Rows[f.Top+i].Track
	chosen := t == f.Place.Track
	mark, style := " ", term.Plain
	if chosen {
		mark, style = ">", term.Subject
	}
	var b strings.Builder
	b.WriteString(m.Terminal.Paint(style, mark+m.Terminal.FitRight(m.name(t), m.margin()-2)+" "))
	cursor := -1
	if chosen {
		cursor = f.Window.Column(f.Place.Time)
	}
	run, last := "", term.Style{}
	flush := func() {
		b.WriteString(m.Terminal.Paint(last, run))
		run = ""
	}
	for c := range f.Cells[i] {
		g := m.glyph(i, c)
		if c == cursor {
			g.style = term.Chosen(!m.inMessages)
		}
		if g.style != last {
			flush()
		}
		last = g.style
		run += g.text
	}
	flush()
	return b.String()
}

// state is what is known of a cell.
type state uint8

const (
	busy    state = iota // it has calls
	idle                 // the thread is not in MPI
	lost                 // events were lost
	unread               // it was not read yet
	outside              // the thread has not begun, or has ended
	states
)

func (m *Model) state(i, column int) state {
	switch c := &m.frame.Cells[i][column]; {
	case c.Lost > 0:
		return lost
	case c.Calls > 0:
		return busy
	case c.Skipped > 0:
		return unread
	case m.outside(i, column):
		return outside
	}
	return idle
}

// glyph is how a cell looks: the letter of what takes the most time of it.
func (m *Model) glyph(i, column int) glyph {
	if g, ok := m.waitGlyph(i, column); ok {
		return g
	}
	switch m.state(i, column) {
	case lost:
		return glyph{"?", term.Wrong}
	case unread, outside:
		return glyph{" ", term.Plain}
	case idle:
		return glyph{m.Terminal.Glyphs().Dot, term.Label}
	}
	c, w := &m.frame.Cells[i][column], m.frame.Window
	width := w.Edge(column+1) - w.Edge(column) - c.Skipped
	letter, color := m.letter(c.Shares[0].Function)
	style := term.Style{Color: color}
	if 2*c.Busy >= width {
		style.Reverse = m.Terminal.Profile > colorprofile.ASCII
		return glyph{letter, style}
	}
	return glyph{strings.ToLower(letter), style}
}

// outside says whether a cell without calls is before the first or after the last call of its thread, as far as the window shows.
func (m *Model) outside(i, column int) bool {
	begin, end := m.frame.Ends[i][0], m.frame.Ends[i][1]
	w := m.frame.Window
	return w.Edge(column+1) <= begin || w.Edge(column) > end
}

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
	for _, x := range text.Ticks(w.From.Seconds(), w.To.Seconds(), n) {
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
