//go:build linux

package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"mpitx/catalog"
	"mpitx/ui/link"
)

const (
	endLimit    = 3 * time.Second // for MPI_Finalize
	helloLimit  = time.Minute     // for the screen to say what it is
	catalogPart = 1 << 16         // bytes
	maxOpen     = 32              // tasks that a rank may have before it
)

// server is rank 0's front of a back end that serves a screen. One goroutine does everything.
type server struct {
	f       *front
	o       Options
	w       *link.Writer
	screen  chan link.Request // closed with its end
	notes   chan note
	timers  chan uint64
	catalog *catalog.Catalog
	numbers link.Numbers
	changed bool // the catalog is known to be old
	size    int
	peers   map[int]*peer
	hosts   map[int]string
	number  uint64
	asked   map[uint64]*asked
	working bool // a workload runs
}

// peer is a rank's front as rank 0's sees it.
type peer struct {
	rank   int
	host   string
	tell   func(kind byte, payload []byte)
	open   map[uint64]task // given, and not yet answered
	silent bool
}

// note is what a peer said.
type note struct {
	from    *peer
	kind    byte // 0: it is gone
	payload []byte
}

// asked is a request of the screen that is under way.
type asked struct {
	request link.Request
	waiting map[int]bool
	answers map[int]answer
	silent  []int
	timer   *time.Timer
}

// Serve collects like Collect, and then answers the requests of a screen until that ends: on rank 0 over in and out, elsewhere
// over rank 0. It returns the exit code.
func Serve(o Options, in io.Reader, out io.Writer) int {
	root := o.Launch.Rank <= 0
	s := &server{o: o, w: link.NewWriter(out), screen: make(chan link.Request, 256), notes: make(chan note, 256), timers: make(chan uint64, 256),
		peers: map[int]*peer{}, hosts: map[int]string{}, asked: map[uint64]*asked{}}
	if root {
		s.say(link.Reply{Is: link.IsHello, Version: link.Version, Text: o.Creator})
		o.Phase = func(text string) { s.say(link.Reply{Is: link.IsPhase, Text: text}) }
	}
	f := newFront(o)
	f.serve = true
	s.f = f
	if root {
		f.gone = make(chan struct{})
		go s.listen(in, f.gone)
	} else {
		f.gone, f.joined = make(chan struct{}), make(chan struct{})
		go f.watchParent(os.Getppid())
	}
	if err := f.start(); err != nil {
		return s.end(-1, err.Error(), "", 1)
	}
	f.run()
	if f.rank() != 0 {
		return f.serveRank()
	}
	return s.run()
}

func (s *server) say(r link.Reply) {
	b, _ := json.Marshal(r) // nothing in it can fail
	s.w.Write(b)
}

// end says the last word, and gives the exit code.
func (s *server) end(rank int, text, variable string, code int) int {
	s.say(link.Reply{Is: link.IsEnded, Rank: rank, Text: text, Variable: variable})
	s.f.killAll()
	return code
}

// listen takes the screen's requests. What is no message is nobody's.
func (s *server) listen(in io.Reader, gone chan struct{}) {
	items := link.NewReader(in)
	for {
		it, err := items.Next()
		if err != nil {
			close(gone)
			return
		}
		var r link.Request
		if it.Message != nil && json.Unmarshal(it.Message, &r) == nil {
			if r.Do == link.DoEnd {
				close(gone)
				return
			}
			s.screen <- r
		}
	}
}

func (s *server) run() int {
	j, err := s.f.root()
	if err != nil {
		return s.end(-1, err.Error(), "", 1)
	}
	s.size = j.Catalog.Job.Size
	s.know(j.Catalog)
	for _, r := range s.catalog.Job.Ranks {
		s.hosts[r.Rank] = r.Host
	}
	if err := s.hello(); err != nil {
		return s.end(-1, err.Error(), "", 1)
	}
	if s.f.process != nil && s.f.result != nil {
		if err := s.invite(); err != nil {
			return s.end(-1, err.Error(), "", 1)
		}
	}
	if err := s.sendCatalog(); err != nil {
		return s.end(-1, err.Error(), "", 1)
	}
	s.sayAbsent()
	return s.serve()
}

// sayAbsent tells of the ranks that will not answer.
func (s *server) sayAbsent() {
	if s.f.result == nil {
		return
	}
	for rank := range s.size {
		if s.peers[rank] == nil {
			text := s.f.result.Lost[rank]
			if text == "" {
				text = fmt.Sprintf("its process did not come to rank 0's within %s", joinLimit)
			}
			s.say(link.Reply{Is: link.IsSilent, Rank: rank, Text: text})
		}
	}
}

func (s *server) know(c *catalog.Catalog) {
	if s.o.Prepare != nil {
		s.o.Prepare(c)
	}
	s.catalog = c
	s.numbers.Add(c)
}

// hello waits for the screen's first word.
func (s *server) hello() error {
	select {
	case r := <-s.screen:
		if r.Do != link.DoHello || r.Version != link.Version {
			return fmt.Errorf("serve: the screen said %q with version %d, not %q with version %d: use the same mpitx on both sides", r.Do, r.Version, link.DoHello, link.Version)
		}
		return nil
	case <-s.f.gone:
		return fmt.Errorf("serve: the screen is gone")
	case <-time.After(helloLimit):
		return fmt.Errorf("serve: nobody spoke to it: this command is mpitx's own")
	}
}

// invite sends all ranks the verdict to serve, and waits for their fronts.
func (s *server) invite() error {
	l, inv, err := listen(s.o.Launch.Size <= 1 || s.o.Launch.Size == s.o.Launch.LocalSize)
	if err != nil {
		return err
	}
	defer l.Close()
	s.f.settled = true
	s.f.after.tell(frameVerdict, append([]byte{0}, pack(inv)...))
	s.peers[0] = &peer{rank: 0, host: s.f.hello.Host, tell: s.f.after.tell, open: map[uint64]task{}}
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
	late := time.After(joinLimit)
	for expected := s.size - len(s.f.result.Lost); len(s.peers) < expected; {
		select {
		case p := <-joined:
			if s.peers[p.rank] == nil {
				s.peers[p.rank] = p
			}
		case e := <-s.f.events:
			if e.kind == 0 && e.from == s.f.after {
				return fmt.Errorf("%s", s.f.after.death(e.status))
			}
			s.f.take(e)
		case <-s.f.gone:
			return fmt.Errorf("the screen is gone")
		case <-late:
			return nil // they are silent
		}
	}
	return nil
}

// accept lets a rank's front in, and hears it.
func (s *server) accept(c net.Conn, inv *invitation, joined chan<- *peer) {
	j, err := inv.admit(c, s.size)
	if err != nil {
		c.Close()
		return
	}
	say := make(chan frame, 4*maxOpen)
	p := &peer{rank: j.Rank, host: j.Host, open: map[uint64]task{}, tell: func(kind byte, payload []byte) { say <- frame{kind, payload} }}
	joined <- p
	go func() {
		for f := range say { // a front reads at once, whatever its back end does
			writeFrame(c, f.kind, f.payload)
		}
	}()
	for {
		kind, payload, err := readFrame(c)
		if err != nil {
			s.notes <- note{from: p}
			return
		}
		s.notes <- note{p, kind, payload}
	}
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

// serve answers requests until somebody is gone.
func (s *server) serve() int {
	for {
		select {
		case r := <-s.screen:
			s.request(r)
		case <-s.f.gone:
			return s.leave()
		case n := <-s.notes:
			if over, code := s.hear(n); over {
				return code
			}
		case e := <-s.f.events:
			if over, code := s.child(e); over {
				return code
			}
		case number := <-s.timers:
			s.late(number)
		case sig := <-s.f.signals:
			return s.signalled(signalName(sig))
		}
	}
}

// child takes what rank 0's own back end says.
func (s *server) child(e event) (over bool, code int) {
	p := s.peers[0]
	switch {
	case e.kind == 0 && e.from == s.f.after && p != nil:
		e.from.ended = true
		return true, s.end(0, e.from.death(e.status), e.from.mark.where(p.open), 1)
	case e.kind == frameAnswer:
		s.answer(p, e.payload)
	default:
		s.f.take(e)
	}
	return false, 0
}

// hear takes what another rank's front says.
func (s *server) hear(n note) (over bool, code int) {
	var at place
	switch n.kind {
	case 0:
		return true, s.end(n.from.rank, fmt.Sprintf("rank %d on %s is gone", n.from.rank, orUnknown(n.from.host)), "", 1)
	case frameDied:
		unpack(n.payload, &at)
		return true, s.end(n.from.rank, fmt.Sprintf("rank %d on %s: %s", n.from.rank, orUnknown(n.from.host), at.Text), at.Variable, 1)
	case frameWhere:
		unpack(n.payload, &at)
		s.say(link.Reply{Is: link.IsSilent, Rank: n.from.rank, Variable: at.Variable})
	case frameAnswer:
		s.answer(n.from, n.payload)
	}
	return false, 0
}
