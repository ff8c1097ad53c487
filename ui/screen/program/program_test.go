package program

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
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
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	err = Run(context.Background(), &quits{}, term.Term{}, new(bytes.Buffer), out)
	if text, _ := os.ReadFile(out.Name()); err != nil || len(text) == 0 {
		t.Errorf("%v: %q", err, text)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := Run(ctx, &quits{inside: cancel}, term.Term{}, new(bytes.Buffer), out); !errors.Is(err, ErrSignal) {
		t.Errorf("a context that ended: %v", err)
	}
	stderr := os.Stderr
	os.Stderr, _ = os.Open(os.DevNull) // the stack goes there
	defer func() { os.Stderr = stderr }()
	if err := Run(context.Background(), &quits{crash: true}, term.Term{}, new(bytes.Buffer), out); !errors.Is(err, ErrPanic) {
		t.Errorf("a panic: %v", err)
	}
}

// spy tells of each time that the renderer is given something to wait for.
type spy struct {
	*pacer
	held chan struct{}
}

func (s *spy) Write(b []byte) (int, error) {
	if bytes.HasSuffix(b, []byte(still)) {
		s.held <- struct{}{}
	}
	return s.pacer.Write(b)
}

type counts struct{ n int }

func (c *counts) Init() tea.Cmd  { return nil }
func (c *counts) View() tea.View { return tea.NewView(strings.Repeat("x", c.n)) }
func (c *counts) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if n, ok := msg.(int); ok {
		c.n = n
	}
	return c, nil
}

// The renderer rests after each frame, draws the next one when a message comes, and holds up no end.
func TestRest(t *testing.T) {
	for name, end := range map[string]func(p *tea.Program, cancel func()){
		"quits":   func(p *tea.Program, _ func()) { p.Quit() },
		"context": func(_ *tea.Program, cancel func()) { cancel() },
		"panic":   func(p *tea.Program, _ func()) { p.Send(Crash{}) },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out, screen, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			var p *tea.Program
			paced := newPacer(ctx, screen, func(msg tea.Msg) { p.Send(msg) })
			s := &spy{paced, make(chan struct{}, 100)}
			p = tea.NewProgram(&shell{&counts{}}, tea.WithContext(ctx), tea.WithInput(nil), tea.WithOutput(s), tea.WithWindowSize(80, 24), tea.WithFPS(120),
				tea.WithoutSignalHandler(), tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg { return paced.filter(msg) }))
			ended := make(chan struct{})
			go func() { p.Run(); screen.Close(); close(ended) }()
			var drawn strings.Builder
			for n := 1; n <= 3; n++ {
				<-s.held
				p.Send(n)
				chunk := make([]byte, 1<<12)
				for strings.Count(drawn.String(), "x") < n {
					k, err := out.Read(chunk)
					if err != nil {
						t.Fatal(err)
					}
					drawn.Write(chunk[:k])
				}
			}
			<-s.held
			go io.Copy(io.Discard, out)
			began := time.Now()
			end(p, cancel)
			<-ended
			if took := time.Since(began); took > most/2 {
				t.Errorf("it took %s to end", took)
			}
		})
	}
}

// What came after the last message is drawn before the renderer rests.
func TestFrameBeforeRest(t *testing.T) {
	p := newPacer(t.Context(), nil, func(tea.Msg) {})
	defer p.rest.Stop()
	p.filter(1)
	p.last = time.Now().Add(time.Hour)
	if msg := p.filter(tea.RawMsg{Msg: still}); msg != nil {
		t.Error("the renderer rests right after a message")
	}
	p.last = time.Time{}
	if msg := p.filter(tea.RawMsg{Msg: still}); msg == nil {
		t.Error("the renderer does not rest")
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
