package program

import (
	"bytes"
	"context"
	"os"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's renderer looks for a new frame 120 times a second, which takes 150 ms of processor time in 10 s without one
// (charmbracelet/bubbletea#1776). So after a while without messages, the renderer gets something to write, and that write blocks until
// the next message.
const (
	still = "\x00" // never written
	quiet = 40 * time.Millisecond
	most  = 5 * time.Second // limits the wait for the renderer after a crash
	stuck = 300 * time.Millisecond
)

// pacer is the renderer's output.
type pacer struct {
	*os.File
	plain bool // the terminal is: term.Term.Plain
	ctx   context.Context
	last  time.Time // of the last message
	drawn atomic.Uint64
	rest  *time.Timer
	woken chan struct{}
}

func newPacer(ctx context.Context, f *os.File, send func(tea.Msg)) *pacer {
	rest := time.AfterFunc(time.Hour, func() { send(tea.RawMsg{Msg: still}) })
	return &pacer{File: f, ctx: ctx, rest: rest, woken: make(chan struct{}, 1)}
}

// filter sees every message before it is handled.
func (p *pacer) filter(msg tea.Msg) tea.Msg {
	if msg != (tea.RawMsg{Msg: still}) {
		p.last = time.Now()
		p.rest.Reset(quiet)
		select {
		case p.woken <- struct{}{}:
		default:
		}
		return msg
	}
	if time.Since(p.last) < quiet {
		return nil // draw the frame of the message in between first
	}
	select {
	case <-p.woken:
	default:
	}
	return msg
}

// assure calls again if nothing is drawn for a while. After RestoreTerminal, the old renderer may stop the new one's clock
// (charmbracelet/bubbletea#1778).
func (p *pacer) assure(again func()) {
	before := p.drawn.Load()
	time.AfterFunc(stuck, func() {
		if p.drawn.Load() == before && p.ctx.Err() == nil {
			again()
		}
	})
}

func (p *pacer) Write(b []byte) (int, error) {
	text, rests := bytes.CutSuffix(b, []byte(still))
	if p.plain {
		text = plainOnly(text)
	}
	if len(text) > 0 {
		p.drawn.Add(1)
		if n, err := p.File.Write(text); err != nil {
			return n, err
		}
	}
	if rests {
		select {
		case <-p.woken:
		case <-p.ctx.Done():
		case <-time.After(most):
			p.rest.Reset(0)
		}
	}
	return len(b), nil
}
