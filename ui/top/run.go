package top

import (
	"context"
	"io"

	"mpitx/recording"
	"mpitx/ui/program"
	"mpitx/ui/term"
)

// Run shows a feed on a terminal until the user quits, the context ends, or a signal comes (then the error is [program.ErrSignal]).
// The terminal is put back in any case, also after a panic.
func Run(ctx context.Context, f *Feed, t term.Term, as recording.Transform, in io.Reader, out io.Writer) error {
	return program.Run(ctx, New(f, t, as), t, in, out)
}
