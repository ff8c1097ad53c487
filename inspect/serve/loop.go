//go:build linux

package serve

import (
	"time"

	"mpitx/inspect"
	"mpitx/inspect/transport"
	"mpitx/ui/link"
)

// serve answers requests until the explorer or a back end exits.
func (s *server) serve() int {
	var late <-chan time.Time // a launcher that ends the job after a rank died is often faster than the news of that rank
	killer := ""
	leaving := false
	for {
		over, code := false, 0
		select {
		case r := <-s.screen:
			s.request(r)
		case <-s.gone: // the explorer has exited
			s.screen, s.gone, leaving = nil, nil, true
			if !s.allAnswer() {
				over, code = true, s.endBackends()
			} else if s.working { // all ranks finish their round
				s.request(link.Request{Do: link.DoWorkload, Millis: endLimit.Milliseconds()})
			}
		case n := <-s.notes:
			over, code = s.receive(n)
		case e := <-s.job.Events:
			if killer == "" || e.Kind != 0 || !transport.EndedByOthers(e.Status) {
				over, code = s.child(e)
			}
		case number := <-s.timers:
			s.late(number)
		case sig := <-s.job.Signals:
			killer, late = transport.SignalName(sig), time.After(300*time.Millisecond)
		case <-late:
			over, code = true, s.end(-1, "ended by "+killer, "", 1)
		}
		if leaving && !over && len(s.asked) == 0 {
			over, code = true, s.endBackends()
		}
		if over {
			return code
		}
	}
}

// child handles an event from rank 0's own back end.
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

// receive handles a frame from another rank's front.
func (s *server) receive(n note) (over bool, code int) {
	var at place
	switch n.Kind {
	case 0:
		return true, s.end(n.from.rank, inspect.Where(n.from.host, n.from.rank)+" is gone", "", 1)
	case transport.FrameDied:
		transport.Unpack(n.Payload, &at)
		return true, s.end(n.from.rank, inspect.Where(n.from.host, n.from.rank)+": "+at.Text, at.Variable, 1)
	case transport.FrameWhere:
		transport.Unpack(n.Payload, &at)
		s.say(link.Reply{Is: link.IsSilent, Rank: n.from.rank, Variable: at.Variable})
	case transport.FrameAnswer:
		s.answer(n.from, n.Payload)
	}
	return false, 0
}

// endBackends ends the back ends. MPI_Finalize waits for all ranks, so nobody calls it if one is silent.
func (s *server) endBackends() int {
	code := 1
	if s.allAnswer() {
		for _, p := range s.peers {
			p.Send(transport.FrameVerdict, []byte{0})
		}
		if s.job.Await(endLimit) == 0 {
			code = 0
		}
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
