package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
)

// Run shows the explorer on the terminal until the user quits or the context ends. It restores the terminal whatever
// happens, and ends the back end. Its error says why the explorer ended before the user wanted it to.
func Run(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, endSignals...)
	defer stop()
	m := New(o)
	profiles := [...]colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithOutput(os.Stdout), tea.WithColorProfile(profiles[o.Term.Profile]), tea.WithoutSignalHandler(),
		tea.WithFPS(30)) // it looks for changes that often, also when there are none: twice as often costs 100 ms of CPU in 10 s of nothing
	_, err := p.Run()
	if m.backend != nil {
		m.backend.Close()
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("explorer: ended by a signal")
	case errors.Is(err, tea.ErrProgramPanic):
		return fmt.Errorf("explorer: a defect in mpitx ended it: %w", err)
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}
