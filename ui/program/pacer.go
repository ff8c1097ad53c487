package program

import (
	"bytes"
	"context"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's renderer looks for a new frame 120 times a second as long as a program runs, which takes 150 ms of processor time in
// 10 s without one (charmbracelet/bubbletea#1776). So after a while without a message the renderer gets something to write, and the
// write returns when the next message comes.
const (
	still = "\x00" // never written
	quiet = 40 * time.Millisecond
	most  = 5 * time.Second // a program that a defect ends waits for its renderer
)

// pacer is the terminal that the renderer writes to.
type pacer struct {
	*os.File
	plain bool // the terminal is: term.Term.Plain
	ctx   context.Context
	last  time.Time // a message came
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
		return nil // a message came in between: its frame is drawn first
	}
	select {
	case <-p.woken:
	default:
	}
	return msg
}

func (p *pacer) Write(b []byte) (int, error) {
	text, rests := bytes.CutSuffix(b, []byte(still))
	if p.plain {
		text = plainOnly(text)
	}
	if len(text) > 0 {
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
