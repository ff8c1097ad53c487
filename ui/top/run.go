package top

import (
	"context"
	"io"

	"mpitx/recording"
	"mpitx/ui/config"
	"mpitx/ui/screen/program"
	"mpitx/ui/term"
)

// Run shows a run on a terminal until the user quits, the context ends, a signal comes (then the error is [program.ErrSignal]), or the run
// cannot be opened. It restores the terminal in any case, also after a panic. file is the user's configuration; nil: nothing is kept.
func Run(ctx context.Context, find Find, t term.Term, as recording.Transform, file *config.File, in io.Reader, out io.Writer) error {
	m := New(find, t, as)
	m.Config = file
	err := program.Run(ctx, m, t, in, out)
	if m.source != nil {
		m.source.Close()
	}
	if err == nil {
		err = m.failed
	}
	return err
}
