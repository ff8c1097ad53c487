//go:build linux

package job

import (
	"time"

	"mpitx/ui/link"
)

// signalled waits a moment: a launcher that ends the job because of a rank that died is often faster than that rank.
func (s *server) signalled(name string) int {
	late := time.After(300 * time.Millisecond)
	for {
		select {
		case n := <-s.notes:
			if over, code := s.hear(n); over {
				return code
			}
		case e := <-s.f.events:
			if e.kind == 0 && endedByOthers(e.status) {
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
	for _, p := range s.peers {
		if p.silent || len(p.open) > 0 {
			return s.end(-1, "ended as asked", "", 1)
		}
	}
	if len(s.peers) != s.size {
		return s.end(-1, "ended as asked", "", 1)
	}
	s.stopWorkload()
	for _, p := range s.peers {
		p.tell(frameVerdict, []byte{0})
	}
	late := time.After(endLimit)
	for !s.f.after.ended {
		select {
		case e := <-s.f.events:
			if e.kind == 0 {
				e.from.ended = true
			}
		case <-s.notes:
		case <-s.f.signals:
			return s.end(-1, "ended as asked", "", 1)
		case <-late:
			return s.end(-1, "ended as asked", "", 1)
		}
	}
	return s.end(-1, "ended as asked", "", 0)
}

// stopWorkload lets all ranks finish their round.
func (s *server) stopWorkload() {
	if !s.working {
		return
	}
	s.request(link.Request{Do: link.DoWorkload, Millis: endLimit.Milliseconds()})
	late := time.After(endLimit)
	for len(s.asked) > 0 {
		select {
		case n := <-s.notes:
			if n.kind == frameAnswer {
				s.answer(n.from, n.payload)
			}
		case e := <-s.f.events:
			if e.kind == frameAnswer {
				s.answer(s.peers[0], e.payload)
			}
		case <-late:
			return
		case <-s.timers:
			return
		}
	}
}
