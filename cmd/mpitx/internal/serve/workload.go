//go:build cgo && linux

package serve

import (
	"errors"
	"time"

	"mpitx/cmd/mpitx/internal/transport"
)

// The workloads of a back end that serves: what fixtures/workload does, with messages that do not block, so that tasks are
// done in between. All ranks do rounds until rank 0 has other things to do.

const (
	tagNever = 1020 + iota // no message has it
	tagToken               // from rank 0: one more round, or none
	tagRound               // to rank 0: the round is done
	tagWork  = 1100        // and the 99 behind it: in a round
)

var errEnding = errors.New("the back end ends")

// exercise runs a workload until rank 0 leaves it. An error is the end: a rank that left by itself would let others wait.
func (s *serving) exercise(name string) {
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
			s.rest(5 * time.Millisecond)
		}
		s.rounded()
	}
}

// again agrees on another round: rank 0 sends one byte for it, and none if there is to be none.
func (s *serving) again() bool {
	if s.Rank != 0 {
		return len(s.get(0, tagToken)) > 0 && s.failed == nil
	}
	s.pump()
	more := 1
	if s.ending || len(s.loads) > 0 {
		more = 0
	}
	for r := 1; r < s.Size; r++ {
		s.put(more, r, tagToken)
	}
	return more == 1 && s.failed == nil
}

// rounded waits until all ranks have done their round, so that no message is left when MPI ends.
func (s *serving) rounded() {
	if s.Rank != 0 {
		s.put(0, 0, tagRound)
		return
	}
	for r := 1; r < s.Size; r++ {
		s.get(r, tagRound)
	}
	s.rest(time.Millisecond)
}

// put sends a message of n bytes. After the first error it does nothing, as get.
func (s *serving) put(n, to, tag int) {
	if s.failed == nil {
		s.failed = s.Mail.Send(make([]byte, n), to, tag)
	}
}

// get waits for a message, and does tasks.
func (s *serving) get(source, tag int) []byte {
	for k := 0; s.failed == nil; k++ {
		data, _, ok, err := s.Mail.Receive(source, tag)
		if s.failed = err; ok || err != nil {
			return data
		}
		s.pump()
		if s.ending {
			s.failed = errEnding
		}
		transport.Pause(k)
	}
	return nil
}

// pingpong: pairs of neighbours send 8 bytes to and fro; who has no partner sends to itself.
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

// unexpected: every rank is sent messages that it has not asked for yet, rests, and takes them, the last first.
func (s *serving) unexpected(n int) {
	next, last := (s.Rank+1)%s.Size, (s.Rank+s.Size-1)%s.Size
	for k := range n {
		s.put(64, next, tagWork+k)
	}
	s.rest(20 * time.Millisecond)
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
