//go:build linux

package serve

import (
	"time"

	"mpitx/cmd/mpitx/internal/collect"
	"mpitx/cmd/mpitx/internal/transport"
	"mpitx/ui/link"
)

// serve answers requests until somebody is gone.
func (s *server) serve() int {
	for {
		select {
		case r := <-s.screen:
			s.request(r)
		case <-s.gone:
			return s.leave()
		case n := <-s.notes:
			if over, code := s.hear(n); over {
				return code
			}
		case e := <-s.job.Events:
			if over, code := s.child(e); over {
				return code
			}
		case number := <-s.timers:
			s.late(number)
		case sig := <-s.job.Signals:
			return s.signalled(transport.SignalName(sig))
		}
	}
}

// child takes what rank 0's own back end says.
func (s *server) child(e transport.Event) (over bool, code int) {
	e.Note()
	p := s.peers[0]
	switch {
	case p == nil || e.From != s.job.Backend:
	case e.Kind == 0:
		return true, s.end(0, e.From.Death(e.Status), p.open.variable(e.From.Where()), 1)
	case e.Kind == transport.FrameAnswer:
		s.answer(p, e.Payload)
	}
	return false, 0
}

// hear takes what another rank's front says.
func (s *server) hear(n note) (over bool, code int) {
	var at place
	switch n.Kind {
	case 0:
		return true, s.end(n.from.rank, collect.Where(n.from.host, n.from.rank)+" is gone", "", 1)
	case transport.FrameDied:
		transport.Unpack(n.Payload, &at)
		return true, s.end(n.from.rank, collect.Where(n.from.host, n.from.rank)+": "+at.Text, at.Variable, 1)
	case transport.FrameWhere:
		transport.Unpack(n.Payload, &at)
		s.say(link.Reply{Is: link.IsSilent, Rank: n.from.rank, Variable: at.Variable})
	case transport.FrameAnswer:
		s.answer(n.from, n.Payload)
	}
	return false, 0
}

// signalled waits a moment: a launcher that ends the job because of a rank that died is often faster than that rank.
func (s *server) signalled(name string) int {
	late := time.After(300 * time.Millisecond)
	for {
		select {
		case n := <-s.notes:
			if over, code := s.hear(n); over {
				return code
			}
		case e := <-s.job.Events:
			if e.Kind == 0 && transport.EndedByOthers(e.Status) {
				continue
			}
			if over, code := s.child(e); over {
				return code
			}
		case <-late:
			return s.end(-1, "ended by "+name, "", 1)
		}
	}
}

// leave ends the back end because nobody wants it any more. MPI_Finalize waits for all ranks: where one is silent nobody calls it.
func (s *server) leave() int {
	code := 1
	if s.allAnswer() {
		s.stopWorkload()
		for _, p := range s.peers {
			p.Send(transport.FrameVerdict, []byte{0})
		}
		code = s.awaitEnd()
	}
	return s.end(-1, "ended as asked", "", code)
}

func (s *server) allAnswer() bool {
	for _, p := range s.peers {
		if p.silent || len(p.open) > 0 {
			return false
		}
	}
	return len(s.peers) == s.size
}

func (s *server) awaitEnd() (code int) {
	late := time.After(endLimit)
	for !s.job.Backend.Ended {
		select {
		case e := <-s.job.Events:
			e.Note()
		case <-s.notes:
		case <-s.job.Signals:
			return 1
		case <-late:
			return 1
		}
	}
	return 0
}

// stopWorkload lets all ranks finish their round.
func (s *server) stopWorkload() {
	if !s.working {
		return
	}
	s.request(link.Request{Do: link.DoWorkload, Millis: endLimit.Milliseconds()})
	for len(s.asked) > 0 {
		select {
		case n := <-s.notes:
			if n.Kind == transport.FrameAnswer {
				s.answer(n.from, n.Payload)
			}
		case e := <-s.job.Events:
			if e.Note(); e.Kind == transport.FrameAnswer {
				s.answer(s.peers[0], e.Payload)
			}
		case <-s.timers:
			return
		}
	}
}
