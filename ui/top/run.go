package top

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/recording"
	"mpitx/ui/term"
)

// Run shows a feed on a terminal until the user quits or the context ends (then the error is its cause).
// It minds no signals: the context should. The terminal is put back in any case, also after a panic.
func Run(ctx context.Context, f *Feed, t term.Term, as recording.Transform, in io.Reader, out io.Writer) error {
	profile := [...]colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor}[t.Profile]
	p := tea.NewProgram(New(f, t, as), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithColorProfile(profile), tea.WithFPS(30),
		tea.WithoutSignalHandler()) // where the context ends at the same signal it would wait for ever
	_, err := p.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}
