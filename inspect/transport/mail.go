//go:build cgo && linux

package transport

import (
	"fmt"
	"time"

	"mpitx/binding"
)

// Mail sends and receives on MPI_COMM_WORLD without blocking. It polls with sleeps, because blocking collectives would
// use the processors that other ranks need.
type Mail struct {
	Lib     *binding.Library
	pending []*binding.Request
}

// Send sends a message. It does not wait for the receiver; Progress and Flush complete it.
func (m *Mail) Send(data []byte, dest, tag int) error {
	r, err := m.Lib.Send(data, dest, tag)
	if err == nil {
		m.pending = append(m.pending, r)
	}
	return err
}

// Receive returns a message if there is one. It waits at most a minute for the rest of a message that has begun to
// arrive.
func (m *Mail) Receive(source, tag int) (data []byte, from int, ok bool, err error) {
	m.Progress()
	ok, from, n, err := m.Lib.Probe(source, tag)
	if err != nil || !ok {
		return nil, 0, false, err
	}
	r, err := m.Lib.Receive(n, from, tag)
	if err != nil {
		return nil, 0, false, err
	}
	err = Poll(time.Now().Add(time.Minute), r.Done)
	return r.Data(), from, err == nil, err
}

// Wait waits for a message until the deadline. At the deadline it returns [ErrLate].
func (m *Mail) Wait(source, tag int, deadline time.Time) (data []byte, err error) {
	err = Poll(deadline, func() (ok bool, err error) {
		data, _, ok, err = m.Receive(source, tag)
		return ok, err
	})
	return data, err
}

// Progress completes sends.
func (m *Mail) Progress() {
	live := m.pending[:0]
	for _, r := range m.pending {
		if done, err := r.Done(); !done && err == nil {
			live = append(live, r)
		}
	}
	m.pending = live
}

// Flush waits for pending sends. At the deadline it returns [ErrLate].
func (m *Mail) Flush(deadline time.Time) error {
	return Poll(deadline, func() (bool, error) {
		m.Progress()
		return len(m.pending) == 0, nil
	})
}

// Poll polls, first without and then with sleeps that grow to a millisecond. It returns the error of done, or [ErrLate]
// at the deadline.
func Poll(deadline time.Time, done func() (bool, error)) error {
	for k := 0; ; k++ {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if k&15 == 15 && time.Now().After(deadline) {
			return ErrLate
		}
		Pause(k)
	}
}

// Pause sleeps after the attempt number k since something happened.
func Pause(k int) { time.Sleep(min(time.Millisecond, 20*time.Microsecond*time.Duration(1+k/8))) }

// ErrLate is returned at a deadline.
var ErrLate = fmt.Errorf("no answer in time")
