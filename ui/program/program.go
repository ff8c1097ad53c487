// Package program runs a full-screen program: it draws when there is something new and only then, ends by signals, stops and
// goes on as the shell's job control wants it, and gives the terminal back as it was whatever happens.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/ui/term"
)

// ErrSignal is Run's error when a signal, or the end of its context, has ended the program.
var ErrSignal = errors.New("ended by a signal")

// ErrPanic is Run's error when a defect has ended the program. It was told on standard error.
var ErrPanic = errors.New("a defect in mpitx ended it")

// Run shows a model on a terminal until it quits. Its error says why it ended before the user wanted it to. out must be the
// terminal that t tells of.
func Run(ctx context.Context, m tea.Model, t term.Term, in io.Reader, out io.Writer) error {
	ctx, forget := signal.NotifyContext(ctx, endSignals...)
	defer forget()
	profiles := [...]colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI, colorprofile.ANSI256, colorprofile.TrueColor}
	paced := &pacer{model: m}
	stops := make(chan os.Signal, 1)
	p := tea.NewProgram(paced, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithColorProfile(profiles[t.Profile]),
		tea.WithoutSignalHandler(), tea.WithFPS(120), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if _, ok := msg.(tea.SuspendMsg); ok {
				return rest(paced.program)
			}
			return msg
		}))
	paced.program = p
	notifyStop(stops)
	defer signal.Stop(stops)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-stops:
				p.Send(tea.SuspendMsg{})
			}
		}
	}()
	_, err := p.Run()
	paced.end()
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return ErrPanic
	case ctx.Err() != nil:
		return ErrSignal
	case errors.Is(err, tea.ErrInterrupted):
		return nil
	}
	return err
}

// CannotStop tells a model that the program was to stop, and that there is no shell that could bring it back.
type CannotStop struct{}

// rest gives the terminal back and stops the program until the shell lets it go on. Bubble Tea's own way needs SIGTSTP to do
// what it does by default, which a Go program that has once caught it never gets back; and it would wait for ever where
// nobody watches the job.
func rest(p *tea.Program) tea.Msg {
	if !jobControl() {
		return CannotStop{}
	}
	if err := p.ReleaseTerminal(); err != nil {
		return nil
	}
	stop()
	p.RestoreTerminal()
	return tea.ResumeMsg{}
}

// Crash is a panic of a goroutine that is none of Bubble Tea's, on its way to one that is: a model that is sent one panics
// with it in Update, so that the terminal is put back.
type Crash struct {
	Value any
	Stack []byte
}

func (c Crash) String() string { return fmt.Sprintf("%v\n\n%s", c.Value, c.Stack) }

// Guard is deferred in such a goroutine.
func Guard(send func(Crash)) {
	if r := recover(); r != nil {
		send(Crash{r, debug.Stack()})
	}
}
