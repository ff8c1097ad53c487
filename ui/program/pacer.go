package program

import (
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Bubble Tea's renderer looks for a new frame at a fixed pace, all the time: 60 times a second make a key wait for up to
// 16 ms and cost 100 ms of processor time in 10 s in which nothing happens. So its clock is set: fast behind every message,
// slow when none came for a while.
const (
	fast  = 3 * time.Millisecond
	slow  = time.Second // not for ever: a frame that a slow terminal held up is drawn then
	awake = 40 * time.Millisecond
)

// pacer is a model around the program's own, which sets the renderer's clock.
type pacer struct {
	model   tea.Model
	program *tea.Program
	clock   *time.Ticker

	mu     sync.Mutex
	last   time.Time // a message came
	isFast bool      // the clock: set again and again, it would never strike
	sleep  *time.Timer
}

func (p *pacer) Init() tea.Cmd {
	p.clock = clock(p.program)
	p.wake()
	return p.model.Init()
}

func (p *pacer) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if c, ok := msg.(Crash); ok {
		panic(c)
	}
	msgs := []tea.Msg{msg}
	if key, ok := msg.(tea.KeyPressMsg); ok {
		msgs = msgs[:0]
		for _, k := range presses(key) {
			msgs = append(msgs, k)
		}
	}
	cmds := make([]tea.Cmd, len(msgs))
	for i, msg := range msgs {
		p.model, cmds[i] = p.model.Update(msg)
	}
	p.wake()
	return p, tea.Batch(cmds...)
}

func (p *pacer) View() tea.View { return p.model.View() }

func (p *pacer) wake() {
	if p.clock == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	if p.isFast {
		return // rest comes, and sees that it is too early
	}
	p.isFast = true
	p.clock.Reset(fast)
	p.sleep = time.AfterFunc(awake, p.rest)
}

func (p *pacer) rest() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if left := awake - time.Since(p.last); left > 0 {
		p.sleep.Reset(left)
		return
	}
	p.isFast = false
	p.clock.Reset(slow)
}

func (p *pacer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sleep != nil {
		p.sleep.Stop()
	}
}

// clock is the ticker of a program that runs; nil where this version of Bubble Tea has none by that name, and goes on at its
// own pace. There is no way to set it that is meant for it.
func clock(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return (*time.Ticker)(f.UnsafePointer())
}
