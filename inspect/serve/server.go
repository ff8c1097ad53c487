//go:build linux

// Package serve answers the explorer (docs/guide.md): rank 0's front receives requests and sends them as tasks to
// the back ends of all ranks, through the ranks' fronts.
package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/inspect"
	"mpitx/inspect/transport"
	"mpitx/ui/link"
)

const (
	endLimit    = 3 * time.Second // for MPI_Finalize
	helloLimit  = time.Minute     // for the explorer's first message
	catalogPart = 1 << 16         // bytes
	maxOpen     = 32              // unfinished tasks of a rank
)

// server is rank 0's front of a back end that serves an explorer. One goroutine does everything.
type server struct {
	job     *inspect.Job
	prepare func(*catalog.Catalog)
	w       *link.Writer
	screen  chan link.Request
	gone    chan struct{} // closed when the explorer exits
	notes   chan note
	timers  chan uint64
	catalog *catalog.Catalog
	numbers link.Numbers
	changed bool // the catalog is outdated
	size    int
	oneNode bool // according to the launcher
	peers   map[int]*peer
	number  uint64
	asked   map[uint64]*asked
	working bool // a workload runs
}

// peer is a rank's front as rank 0's front sees it; for rank 0 it is the back end.
type peer struct {
	transport.Sender
	rank   int
	host   string
	open   tasks
	silent bool
}

// note is a message of a peer.
type note struct {
	from            *peer
	transport.Frame // Kind 0: the peer has exited
}

// asked is an unfinished request.
type asked struct {
	request link.Request
	waiting map[int]bool
	answers map[int]answer
	silent  []int
	timer   *time.Timer
}

// Serve collects, and then answers the explorer until it exits: rank 0 over in and out, other ranks over rank 0.
// prepare completes catalogs. It returns the exit code.
func Serve(o inspect.Options, prepare func(*catalog.Catalog), in io.Reader, out io.Writer) int {
	o.Serve = true
	if o.Launch.Rank > 0 {
		return serveRank(o)
	}
	s := &server{prepare: prepare, w: link.NewWriter(out), screen: make(chan link.Request, 256), gone: make(chan struct{}), notes: make(chan note, 256),
		timers: make(chan uint64, 256), peers: map[int]*peer{}, asked: map[uint64]*asked{}, oneNode: o.Launch.Size <= 1 || o.Launch.Size == o.Launch.LocalSize}
	s.say(link.Reply{Is: link.IsHello, Version: link.Version, Text: o.Creator})
	o.Phase = func(text string) { s.say(link.Reply{Is: link.IsPhase, Text: text}) }
	o.Gone = s.gone
	go s.listen(in)
	var err error
	if s.job, err = inspect.Collect(o); err == nil && !s.job.Root { // without a launcher that numbers ranks
		return follow(s.job, s.gone, make(chan struct{}))
	}
	if err == nil {
		err = s.begin()
	}
	if err != nil {
		return s.end(-1, err.Error(), "", 1)
	}
	return s.serve()
}

func (s *server) say(r link.Reply) {
	b, _ := json.Marshal(r) // cannot fail
	s.w.Write(b)
}

// end sends the last message and returns the exit code.
func (s *server) end(rank int, text, variable string, code int) int {
	s.say(link.Reply{Is: link.IsEnded, Rank: rank, Text: text, Variable: variable})
	if s.job != nil {
		s.job.Backend.Kill()
	}
	return code
}

// listen receives the explorer's requests. It ignores anything else.
func (s *server) listen(in io.Reader) {
	defer close(s.gone)
	items := link.NewReader(in)
	for {
		it, err := items.Next()
		if err != nil {
			return
		}
		var r link.Request
		if it.Message != nil && json.Unmarshal(it.Message, &r) == nil {
			if r.Do == link.DoEnd {
				return
			}
			s.screen <- r
		}
	}
}

// begin connects the ranks and sends the catalog.
func (s *server) begin() error {
	s.size = s.job.Catalog.Job.Size
	s.take(s.job.Catalog)
	if err := s.hello(); err != nil {
		return err
	}
	if s.catalog.After.Read {
		if err := s.invite(); err != nil {
			return err
		}
	}
	if err := s.sendCatalog(); err != nil {
		return err
	}
	for rank := range s.size {
		if s.peers[rank] == nil && s.catalog.After.Read {
			text := s.job.Lost[rank]
			if text == "" {
				text = fmt.Sprintf("its process did not reach rank 0's within %s", transport.JoinLimit)
			}
			s.say(link.Reply{Is: link.IsSilent, Rank: rank, Text: text})
		}
	}
	return nil
}

// take replaces the catalog.
func (s *server) take(c *catalog.Catalog) {
	s.prepare(c)
	s.catalog, s.changed = c, false
	s.numbers.Add(c)
}

// hello waits for the explorer's first message.
func (s *server) hello() error {
	select {
	case r := <-s.screen:
		if r.Do != link.DoHello || r.Version != link.Version {
			return fmt.Errorf("serve: the screen said %q with version %d, not %q with version %d: use the same mpitx on both sides", r.Do, r.Version, link.DoHello, link.Version)
		}
		return nil
	case <-s.gone:
		return fmt.Errorf("serve: the explorer has exited")
	case <-time.After(helloLimit):
		return fmt.Errorf("serve: no explorer talks to it; this command is internal")
	}
}

// invite sends all ranks the verdict to serve, and waits for their fronts.
func (s *server) invite() error {
	l, inv, err := transport.Listen(s.oneNode)
	if err != nil {
		return err
	}
	defer l.Close()
	s.job.Settle(0, transport.Pack(inv)...)
	s.peers[0] = &peer{Sender: s.job.Backend.Sender, host: s.job.Host, open: tasks{}}
	joined := make(chan *peer, s.size)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go s.accept(c, &inv, joined)
		}
	}()
	late := time.After(transport.JoinLimit)
	for expected := s.size - len(s.job.Lost); len(s.peers) < expected; {
		select {
		case p := <-joined:
			if s.peers[p.rank] == nil {
				s.peers[p.rank] = p
			}
		case e := <-s.job.Events:
			if e.Note(); e.Kind == 0 && e.From == s.job.Backend {
				return fmt.Errorf("%s", e.From.Death(e.Status))
			}
		case <-s.gone:
			return fmt.Errorf("the explorer has exited")
		case <-late:
			return nil // the ranks that did not come are silent
		}
	}
	return nil
}

// accept admits a rank's front and receives its frames.
func (s *server) accept(c net.Conn, inv *transport.Invitation, joined chan<- *peer) {
	j, err := inv.Admit(c, s.size)
	if err != nil {
		c.Close()
		return
	}
	p := &peer{Sender: transport.NewSender(c, 4*maxOpen), rank: j.Rank, host: j.Host, open: tasks{}} // a front reads immediately, even if its back end hangs
	joined <- p
	transport.ReadFrames(c, func(f transport.Frame) { s.notes <- note{p, f} })
	s.notes <- note{from: p}
}

func (s *server) sendCatalog() error {
	var b bytes.Buffer
	if err := catalog.Write(&b, s.catalog); err != nil {
		return err
	}
	parts := (b.Len() + catalogPart - 1) / catalogPart
	for k := 1; k <= parts; k++ {
		s.say(link.Reply{Is: link.IsCatalog, Part: k, Parts: parts, Data: slices.Clone(b.Next(catalogPart))})
	}
	return nil
}
