package top

import (
	"context"
	"io"

	"mpitx/recording"
	"mpitx/ui/program"
	"mpitx/ui/term"
)

// Run shows a run on a terminal until the user quits, the context ends, a signal comes (then the error is [program.ErrSignal]), or the run
// cannot be opened. It restores the terminal in any case, also after a panic.
func Run(ctx context.Context, find Find, t term.Term, as recording.Transform, in io.Reader, out io.Writer) error {
	m := New(find, t, as)
	err := program.Run(ctx, m, t, in, out)
	if m.source != nil {
		m.source.Close()
	}
	if err == nil {
		err = m.failed
	}
	return err
}
