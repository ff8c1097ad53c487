//go:build cgo && linux

package serve

import (
	"errors"
	"time"

	"mpitx/inspect/transport"
)

// The workloads of a back end that serves. They do what fixtures/workload does, with non-blocking messages, so that
// tasks can be carried out in between. All ranks do rounds until rank 0 stops.

const (
	tagNever = 1020 + iota // never used by a message
	tagToken               // from rank 0: one more round, or none
	tagRound               // to rank 0: the round is done
	tagWork  = 1100        // and the following 99: in a round
)

var errEnding = errors.New("the back end ends")

// runWorkload runs a workload until rank 0 stops it. An error ends the back end, because a rank that stopped by itself
// would make the others wait.
func (s *serving) runWorkload(name string) {
	s.failed = nil
	for k := 0; s.again(); k++ {
		switch name {
		case "pingpong":
			s.pingpong(20)
		case "alltoall":
			for r := range s.Size {
				s.put(1024, r, tagWork)
			}
			for r := range s.Size {
				s.get(r, tagWork)
			}
		case "unexpected":
			s.unexpected(1 + k%32)
		case "halo":
			s.halo()
		case "idle":
			s.progressFor(5 * time.Millisecond)
		}
		s.rounded()
	}
}

// again agrees on another round: rank 0 sends one byte for another round, and an empty message to stop.
func (s *serving) again() bool {
	if s.Rank != 0 {
		return len(s.get(0, tagToken)) > 0 && s.failed == nil
	}
	s.handleArrived()
	more := 1
	if s.ending || len(s.loads) > 0 {
		more = 0
	}
	for r := 1; r < s.Size; r++ {
		s.put(more, r, tagToken)
	}
	return more == 1 && s.failed == nil
}

// rounded waits until all ranks have finished the round, so that no message is pending when MPI ends.
func (s *serving) rounded() {
	if s.Rank != 0 {
		s.put(0, 0, tagRound)
		return
	}
	for r := 1; r < s.Size; r++ {
		s.get(r, tagRound)
	}
	s.progressFor(time.Millisecond)
}

// put sends a message of n bytes. After the first error, put and get do nothing.
func (s *serving) put(n, to, tag int) {
	if s.failed == nil {
		s.failed = s.Mail.Send(make([]byte, n), to, tag)
	}
}

// get waits for a message and carries out tasks.
func (s *serving) get(source, tag int) []byte {
	for k := 0; s.failed == nil; k++ {
		data, _, ok, err := s.Mail.Receive(source, tag)
		if s.failed = err; ok || err != nil {
			return data
		}
		s.handleArrived()
		if s.ending {
			s.failed = errEnding
		}
		transport.Pause(k)
	}
	return nil
}

// pingpong: pairs of neighbours send 8 bytes back and forth; a rank without a partner sends to itself.
func (s *serving) pingpong(n int) {
	partner := s.Rank ^ 1
	if partner >= s.Size {
		partner = s.Rank
	}
	for range n {
		if s.Rank <= partner {
			s.put(8, partner, tagWork)
		}
		s.get(partner, tagWork)
		if s.Rank > partner {
			s.put(8, partner, tagWork)
		}
	}
}

// unexpected: every rank is sent messages before it has posted receives, waits, and receives them, the last first.
func (s *serving) unexpected(n int) {
	next, last := (s.Rank+1)%s.Size, (s.Rank+s.Size-1)%s.Size
	for k := range n {
		s.put(64, next, tagWork+k)
	}
	s.progressFor(20 * time.Millisecond)
	for k := n - 1; k >= 0; k-- {
		s.get(last, tagWork+k)
	}
}

// halo: four neighbours in a periodic grid.
func (s *serving) halo() {
	width := 1
	for w := 1; w*w <= s.Size; w++ {
		if s.Size%w == 0 {
			width = w
		}
	}
	x, y, height := s.Rank%width, s.Rank/width, s.Size/width
	at := func(x, y int) int { return (y+height)%height*width + (x+width)%width }
	steps := [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	for d, step := range steps {
		s.put(4096, at(x+step[0], y+step[1]), tagWork+d)
	}
	for d, step := range steps {
		s.get(at(x-step[0], y-step[1]), tagWork+d)
	}
}
