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
	tagToken               // from rank 0: one more round (1), or none (0)
	tagRound               // to rank 0: the round is done
	tagWork  = 1100        // and the 99 behind it: in a round
)

var errEnding = errors.New("the back end ends")

// exercise runs a workload until rank 0 leaves it. An error is the end: a rank that left by itself would let others wait.
func (s *serving) exercise(name string) {
	for k := 0; ; k++ {
		if s.Rank == 0 {
			s.pump()
		}
		more, err := s.token(!s.leaving())
		if err != nil || !more {
			return
		}
		if s.round(name, k) != nil || s.rounded() != nil {
			return
		}
	}
}

// token agrees on another round.
func (s *serving) token(more bool) (bool, error) {
	if s.Rank != 0 {
		data, err := s.take(0, tagToken)
		return len(data) == 1 && data[0] == 1, err
	}
	data := []byte{0}
	if more {
		data[0] = 1
	}
	for r := 1; r < s.Size; r++ {
		if err := s.Mail.Send(data, r, tagToken); err != nil {
			return false, err
		}
	}
	return more, nil
}

// rounded waits until all ranks have done their round, so that no message is left when MPI ends.
func (s *serving) rounded() error {
	if s.Rank != 0 {
		return s.Mail.Send(nil, 0, tagRound)
	}
	for r := 1; r < s.Size; r++ {
		if _, err := s.take(r, tagRound); err != nil {
			return err
		}
	}
	s.rest(time.Millisecond)
	return nil
}

// take waits for a message, and does tasks.
func (s *serving) take(source, tag int) ([]byte, error) {
	for k := 0; ; k++ {
		data, _, ok, err := s.Mail.Receive(source, tag)
		if ok || err != nil {
			return data, err
		}
		s.pump()
		if s.ending {
			return nil, errEnding
		}
		transport.Pause(k)
	}
}

func (s *serving) round(name string, k int) error {
	switch name {
	case "pingpong":
		return s.pingpong(20)
	case "alltoall":
		for r := range s.Size {
			if err := s.Mail.Send(make([]byte, 1024), r, tagWork); err != nil {
				return err
			}
		}
		for r := range s.Size {
			if _, err := s.take(r, tagWork); err != nil {
				return err
			}
		}
	case "unexpected":
		return s.unexpected(1 + k%32)
	case "halo":
		return s.halo()
	case "idle":
		s.rest(5 * time.Millisecond)
	}
	return nil
}

// pingpong: pairs of neighbours send 8 bytes to and fro; who has no partner sends to itself.
func (s *serving) pingpong(n int) error {
	partner := s.Rank ^ 1
	if partner >= s.Size {
		partner = s.Rank
	}
	for range n {
		if s.Rank <= partner {
			if err := s.Mail.Send(make([]byte, 8), partner, tagWork); err != nil {
				return err
			}
		}
		if _, err := s.take(partner, tagWork); err != nil {
			return err
		}
		if s.Rank > partner {
			if err := s.Mail.Send(make([]byte, 8), partner, tagWork); err != nil {
				return err
			}
		}
	}
	return nil
}

// unexpected: every rank is sent messages that it has not asked for yet, rests, and takes them, the last first.
func (s *serving) unexpected(n int) error {
	next, last := (s.Rank+1)%s.Size, (s.Rank+s.Size-1)%s.Size
	for k := range n {
		if err := s.Mail.Send(make([]byte, 64), next, tagWork+k); err != nil {
			return err
		}
	}
	s.rest(20 * time.Millisecond)
	for k := n - 1; k >= 0; k-- {
		if _, err := s.take(last, tagWork+k); err != nil {
			return err
		}
	}
	return nil
}

// halo: four neighbours in a periodic grid.
func (s *serving) halo() error {
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
		if err := s.Mail.Send(make([]byte, 4096), at(x+step[0], y+step[1]), tagWork+d); err != nil {
			return err
		}
	}
	for d, step := range steps {
		if _, err := s.take(at(x-step[0], y-step[1]), tagWork+d); err != nil {
			return err
		}
	}
	return nil
}
