package link

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"sync"
	"time"

	"mpitx/catalog"
)

// ErrEnded is wrapped by all errors after the end of the back end.
var ErrEnded = errors.New("the back end has ended")

const (
	readLimit    = 2 * time.Second  // of a Read whose context has no deadline
	writeLimit   = 10 * time.Second // of a Write, and of starting a workload
	refreshLimit = time.Minute      // of collecting everything again
	perRead      = 500              // variables in one request: launchers die of much standard input
	grace        = 5 * time.Second  // for the back end to end by itself
)

// Client is a Backend in a process of its own.
type Client struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	w      *Writer
	events *events
	over   chan struct{} // closed at the end of the process

	mu      sync.Mutex
	nextID  uint64
	waiting map[uint64]chan *Reply
	ended   *Event
	err     error // of requests after the end
	closing bool

	phase    string
	phases   chan struct{} // closed and replaced at each phase
	document []byte
	catalog  *catalog.Catalog
	failed   error
	numbers  Numbers
	ready    chan struct{} // closed when catalog or failed is set
}

// Start starts a back end. It does not wait for an answer: Catalog does. The context only limits the start.
func Start(ctx context.Context, o Options) (*Client, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(o.Command) == 0 {
		return nil, errors.New("start the back end: no command")
	}
	c := &Client{events: newEvents(), over: make(chan struct{}), waiting: map[uint64]chan *Reply{},
		phases: make(chan struct{}), ready: make(chan struct{}), phase: "starting"}
	args := slices.Clone(o.Command[1:])
	for _, id := range o.Exclude { // every rank needs them before it uses the library
		args = append(args, "--exclude="+id)
	}
	c.cmd = exec.Command(o.Command[0], args...)
	c.cmd.Env = o.Env
	c.cmd.WaitDelay = time.Second // for other processes that hold its output
	ownGroup(c.cmd)
	out, outW := io.Pipe()
	errs, errsW := io.Pipe()
	c.cmd.Stdout, c.cmd.Stderr = outW, errsW
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the back end: %w", err)
	}
	c.in, c.w = in, NewWriter(in)
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the back end: %w", err)
	}
	var readers sync.WaitGroup
	readers.Go(func() { c.listen(out, c.answer) })
	readers.Go(func() { c.listen(errs, func(Item) {}) })
	go func() {
		err := c.cmd.Wait()
		outW.Close()
		errsW.Close()
		readers.Wait()
		c.in.Close()
		c.finish(err)
	}()
	go c.ask(Request{Do: DoHello, Version: Version})
	return c, nil
}

// ask sends a request. A failure is the end of the process, which finish reports.
func (c *Client) ask(r Request) {
	b, _ := json.Marshal(r) // nothing in it can fail
	c.w.Write(b)
}

// listen reads an output of the launcher, the library and the back end. What is no foreign text is for take.
func (c *Client) listen(r io.Reader, take func(Item)) {
	items := NewReader(r)
	for {
		it, err := items.Next()
		if err != nil {
			return
		}
		if it.Text != "" {
			c.events.put(Event{Kind: EventLog, Rank: -1, Text: it.Text})
		} else {
			take(it)
		}
	}
}

func (c *Client) answer(it Item) {
	var m Reply
	if it.Damaged || json.Unmarshal(it.Message, &m) != nil {
		c.damaged()
		return
	}
	c.take(&m)
}

// damaged fails all waiting requests: a message of the back end is lost, and it may have answered any of them.
func (c *Client) damaged() {
	c.events.put(Event{Kind: EventLog, Rank: -1, Text: "mpitx: other output damaged an answer of the back end; the answer is lost"})
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, ch := range c.waiting {
		ch <- &Reply{Is: IsError, Text: "the answer was damaged by something that was printed into it: ask again"}
		delete(c.waiting, id)
	}
	c.fail(errors.New("the catalog was damaged by something that was printed into it: restart the back end"))
}

// fail records why the catalog is missing, unless it has arrived.
func (c *Client) fail(err error) {
	if c.catalog == nil && c.failed == nil {
		c.failed = err
		close(c.ready)
	}
}

func (c *Client) take(m *Reply) {
	switch m.Is {
	case IsHello:
		if m.Version != Version {
			c.mu.Lock()
			c.fail(fmt.Errorf("the back end speaks version %d of the protocol, this program %d: use the same mpitx on both sides", m.Version, Version))
			c.mu.Unlock()
		}
	case IsPhase:
		c.setPhase(m.Text)
	case IsCatalog:
		c.takeCatalog(m)
	case IsSample, IsOutcomes, IsDone, IsError:
		c.mu.Lock()
		if ch := c.waiting[m.ID]; ch != nil {
			delete(c.waiting, m.ID)
			ch <- m
		}
		c.mu.Unlock()
	case IsSilent:
		c.events.put(Event{Kind: EventSilent, Rank: m.Rank, Text: m.Text, Variable: m.Variable})
	case IsAnswers:
		c.events.put(Event{Kind: EventAnswers, Rank: m.Rank})
	case IsChanged:
		c.events.put(Event{Kind: EventChanged, Rank: m.Rank})
	case IsEnded:
		c.mu.Lock()
		c.ended = &Event{Kind: EventEnded, Rank: m.Rank, Text: m.Text, Variable: m.Variable}
		c.mu.Unlock()
		time.AfterFunc(grace, func() { c.kill() }) // launchers may hang now
	}
}

func (c *Client) setPhase(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.phase = text
	close(c.phases)
	c.phases = make(chan struct{})
}

// takeCatalog is called by listen alone.
func (c *Client) takeCatalog(m *Reply) {
	if m.Part == 1 {
		c.document = nil
	}
	c.document = append(c.document, m.Data...)
	if m.Part < m.Parts {
		c.setPhase(fmt.Sprintf("receiving the catalog: %d of %d parts", m.Part, m.Parts))
		return
	}
	k, err := catalog.Read(bytes.NewReader(c.document))
	c.document = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.fail(fmt.Errorf("the back end's catalog: %w", err))
		return
	}
	if c.failed != nil {
		return
	}
	first := c.catalog == nil
	c.numbers.Add(k)
	if c.catalog = k; first {
		close(c.ready)
	}
}

func (c *Client) finish(err error) {
	c.mu.Lock()
	ev := c.ended
	if ev == nil {
		ev = &Event{Kind: EventEnded, Rank: -1, Text: "ended"}
		if err != nil {
			ev.Text = err.Error()
		}
		if c.catalog == nil {
			ev.Text += ", in: " + c.phase
		}
	}
	c.err = fmt.Errorf("%w: %s", ErrEnded, ev.Text)
	for id, ch := range c.waiting {
		delete(c.waiting, id)
		close(ch)
	}
	c.fail(c.err)
	c.mu.Unlock()
	c.events.put(*ev)
	close(c.over)
}

// Events implements Backend.
func (c *Client) Events() <-chan Event { return c.events.out }

// Catalog implements Backend.
func (c *Client) Catalog(ctx context.Context, progress func(phase string)) (*catalog.Catalog, error) {
	told := ""
	for {
		c.mu.Lock()
		phase, more := c.phase, c.phases
		c.mu.Unlock()
		if progress != nil && phase != told {
			progress(phase)
			told = phase
		}
		select {
		case <-c.ready:
			return c.present()
		default:
		}
		select {
		case <-c.ready:
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (c *Client) present() (*catalog.Catalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.catalog, c.failed
}

// Close implements Backend.
func (c *Client) Close() error {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	if first {
		go c.ask(Request{Do: DoEnd}) // a back end that does not read its input must not block Close
	}
	// MPICH's launcher dies of SIGPIPE if its input ends after the first rank has ended. So the input stays open at first.
	stop := func() {
		c.in.Close()
		terminate(c.cmd)
	}
	for _, step := range []func(){stop, c.kill, func() {}} {
		select {
		case <-c.over:
			return nil
		case <-time.After(grace):
			step()
		}
	}
	return errors.New("the back end does not end")
}

func (c *Client) kill() {
	select {
	case <-c.over:
	default:
		killGroup(c.cmd)
	}
}
