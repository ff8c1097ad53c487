package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"mpitx/ui/term"
)

// quits is a model that quits at once, or sends itself a crash.
type quits struct {
	crash  bool
	inside func()
}

func (q *quits) Init() tea.Cmd { return func() tea.Msg { return "begin" } }
func (q *quits) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if msg != "begin" {
		return q, nil
	}
	if q.inside != nil {
		q.inside()
	}
	if q.crash {
		return q, func() tea.Msg { return Crash{Value: "of a goroutine"} }
	}
	return q, tea.Quit
}
func (q *quits) View() tea.View { return tea.NewView("shown") }

func TestRun(t *testing.T) {
	var out bytes.Buffer
	if err := Run(context.Background(), &quits{}, term.Term{}, new(bytes.Buffer), &out); err != nil || out.Len() == 0 {
		t.Errorf("%v: %q", err, out.String())
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := Run(ctx, &quits{inside: cancel}, term.Term{}, new(bytes.Buffer), io.Discard); !errors.Is(err, ErrSignal) {
		t.Errorf("a context that ended: %v", err)
	}
	stderr := os.Stderr
	os.Stderr, _ = os.Open(os.DevNull) // the stack goes there
	defer func() { os.Stderr = stderr }()
	if err := Run(context.Background(), &quits{crash: true}, term.Term{}, new(bytes.Buffer), io.Discard); !errors.Is(err, ErrPanic) {
		t.Errorf("a panic: %v", err)
	}
}

// Nothing looks for changes when nothing happens: the renderer's clock is found, goes fast behind a message, and then slow.
func TestIdle(t *testing.T) {
	var found *time.Ticker
	p := &pacer{}
	p.model = &quits{inside: func() { found = p.clock }}
	p.program = tea.NewProgram(p, tea.WithInput(new(bytes.Buffer)), tea.WithOutput(io.Discard))
	if _, err := p.program.Run(); err != nil || found == nil {
		t.Fatalf("the renderer's clock is not found in this version of Bubble Tea: %v", err)
	}
	p.end()

	p = &pacer{model: &quits{}, clock: time.NewTicker(time.Hour)}
	defer p.end()
	end := time.Now().Add(30 * time.Second)
	gap := func() time.Duration { // to the next tick; two hours where none comes for long
		start := time.Now()
		select {
		case <-p.clock.C:
			return time.Since(start)
		case <-time.After(3 * slow):
			return 2 * time.Hour
		}
	}
	for range 2 {
		for p.Update(nil); gap() > slow/2; p.Update(nil) { // this test may sleep longer than the clock goes fast
			if time.Now().After(end) {
				t.Fatal("a message does not make the clock go")
			}
		}
		for gap() < slow*9/10 {
			if time.Now().After(end) {
				t.Fatal("the clock goes on fast")
			}
		}
	}
}

func TestGuard(t *testing.T) {
	got := make(chan Crash, 1)
	go func() {
		defer Guard(func(c Crash) { got <- c })
		panic("here")
	}()
	if c := <-got; c.Value != "here" || !bytes.Contains(c.Stack, []byte("TestGuard")) {
		t.Errorf("%s", c)
	}
}
