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

// row is a row with its cells.
func (m *Model) row(i int) string {
	f := m.frame
	t := f.Rows[f.Top+i].Track
	chosen := t == f.Place.Track
	mark, style := " ", term.Plain
	if chosen {
		mark, style = ">", term.Subject
	}
	var b strings.Builder
	b.WriteString(m.terminal.Paint(style, mark+m.terminal.FitRight(m.name(t), m.margin()-2)+" "))
	cursor := -1
	if chosen {
		cursor = f.Window.Column(f.Place.Time)
	}
	run, last := "", term.Style{}
	flush := func() {
		b.WriteString(m.terminal.Paint(last, run))
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

// glyph is how a cell looks: the letter of what takes the most time of it.
func (m *Model) glyph(i, column int) glyph {
	f := m.frame
	c, w := &f.Cells[i][column], f.Window
	from, to := w.Edge(column), w.Edge(column+1)
	width := to - from - c.Skipped
	switch {
	case c.Lost > 0:
		return glyph{"?", term.Wrong}
	case c.Calls == 0 && c.Skipped > 0:
		return glyph{" ", term.Plain}
	case c.Calls == 0 && m.outside(i, column):
		return glyph{" ", term.Plain}
	case c.Calls == 0:
		return glyph{m.terminal.Glyphs().Dot, term.Label}
	}
	letter, color := m.letter(c.Shares[0].Function)
	style := term.Style{Color: color}
	if 2*c.Busy >= width {
		style.Reverse = m.terminal.Profile > colorprofile.ASCII
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
