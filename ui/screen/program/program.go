// Package program runs a full-screen program. It draws only when something has changed, exits on signals, follows the shell's job
// control, and always restores the terminal.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"mpitx/ui/term"
)

// ErrSignal is Run's error after a signal or the end of its context.
var ErrSignal = errors.New("ended by a signal")

// ErrPanic is Run's error after a panic, which is reported on standard error.
var ErrPanic = errors.New("a defect in mpitx ended it")

// Run shows a model on a terminal until it quits. Its error says why it ended before the user quit. out must be the
// terminal that t describes.
func Run(ctx context.Context, m tea.Model, t term.Term, in io.Reader, out *os.File) error {
	ctx, forget := signal.NotifyContext(ctx, endSignals...)
	defer forget()
	stops, goesOn := make(chan os.Signal, 1), make(chan os.Signal, 1)
	resumed := make(chan struct{}, 1)
	var resting atomic.Bool
	var p *tea.Program
	paced := newPacer(ctx, out, func(msg tea.Msg) { p.Send(msg) })
	paced.plain = t.Plain
	defer paced.rest.Stop()
	assure := func() { paced.assure(func() { p.Send(goOn{}) }) }
	p = tea.NewProgram(&shell{m}, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(paced), tea.WithColorProfile(max(t.Profile, colorprofile.ASCII)),
		tea.WithoutSignalHandler(), tea.WithFPS(120), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			switch msg = paced.filter(msg); msg.(type) {
			case tea.SuspendMsg:
				resting.Store(true)
				defer resting.Store(false)
				defer paced.filter(nil) // nothing was drawn meanwhile
				defer assure()
				return suspend(p, resumed)
			case goOn:
				defer paced.filter(nil)
				defer assure()
				p.ReleaseTerminal()
				time.Sleep(50 * time.Millisecond) // for the old renderer's end: see assure
				p.RestoreTerminal()
				return tea.ResumeMsg{}
			}
			return msg
		}))
	notifyStop(stops)
	defer signal.Stop(stops)
	notifyGoOn(goesOn)
	defer signal.Stop(goesOn)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-stops:
				p.Send(tea.SuspendMsg{})
			case <-goesOn:
				// Only one of the two: goOn releases the terminal for a moment, and a ctrl+z typed in it would stop the job twice.
				if !resting.Load() {
					p.Send(goOn{})
				} else if len(resumed) == 0 {
					resumed <- struct{}{}
				}
			}
		}
	}()
	_, err := p.Run()
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

// CannotStop is sent to a model that asked to suspend if no shell would notice and resume the program.
type CannotStop struct{}

// goOn follows a stop without notice (SIGSTOP): other programs have used the terminal meanwhile.
type goOn struct{}

// suspend restores the terminal and stops the program until the shell resumes it. Bubble Tea's own way needs the default action of SIGTSTP,
// which a Go program cannot restore after it has caught the signal. Without a job-control shell it would wait for ever.
func suspend(p *tea.Program, resumed <-chan struct{}) tea.Msg {
	if !jobControl() {
		return CannotStop{}
	}
	if err := p.ReleaseTerminal(); err != nil {
		return nil
	}
	select {
	case <-resumed: // from an earlier SIGCONT
	default:
	}
	stop(resumed)
	p.RestoreTerminal()
	return tea.ResumeMsg{}
}

// Crash carries a panic from another goroutine to Bubble Tea's: a model that receives one panics in Update, so that the terminal is
// restored.
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
