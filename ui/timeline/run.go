// Package timeline is the full-screen view of a trace: threads as rows, time as columns.
package timeline

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"mpitx/ui/config"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
)

// Run shows a run on a terminal until the user quits, a signal comes (then the error is [program.ErrSignal]), or the run cannot be opened.
// file is the user's configuration; nil: nothing is kept.
func Run(ctx context.Context, find Find, t term.Term, file *config.File, in io.Reader, out io.Writer) error {
	m := New(nil, t)
	m.find, m.Config = find, file
	err := program.Run(ctx, m, t, in, out)
	m.close()
	return cmp.Or(err, m.failed)
}

// Print is one frame of a feed, with all rows, after everything was read. Without colours it has no other attributes of text either.
func Print(f *Feed, t term.Term, width int) string {
	m := New(f, t)
	m.Width, m.Height, m.once = max(width, leastWidth), 1<<16, true
	f.All()
	for range 2 { // the second one knows how wide the names of rows are
		m.show(f.Frame(m.ask()))
	}
	text := m.Render()
	if !t.Terminal.Color {
		text = ansi.Strip(text)
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
