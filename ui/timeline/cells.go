package timeline

import (
	"strings"

	"github.com/charmbracelet/colorprofile"

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
