//go:build cgo && linux

package job

import (
	"fmt"
	"time"

	"mpitx/binding"
	"mpitx/catalog"
)

// Ranks speak with rank 0 alone, and only when they are ready: a rank that hangs is one that rank 0 does not hear of,
// and holds up nobody else. All of it is polled, with sleeps: a blocking collective would spin on processors that other
// ranks need.
const (
	tagHello   = 1001 + iota // to rank 0: gob of hello
	tagReady                 // to rank 0: send me yours
	tagRoot                  // from rank 0: its before and after stage, for comparison
	tagReport                // to rank 0: gob of report
	tagVerdict               // from rank 0: the exit code
)

// report is what a rank tells rank 0.
type report struct {
	Host     string
	After    []byte // catalog.Delta
	Before   []byte // catalog.Delta of a node's leader; empty elsewhere
	Outcomes catalog.Outcomes
	Failed   string // why there is nothing else
}

// root is what rank 0 sends for comparison.
type rootStages struct{ After, Before []byte } // catalog.Root each

// mail sends and receives on MPI_COMM_WORLD without blocking.
type mail struct {
	lib     *binding.Library
	pending []*binding.Request
}

func (m *mail) send(data []byte, dest, tag int) error {
	r, err := m.lib.Send(data, dest, tag)
	if err == nil {
		m.pending = append(m.pending, r)
	}
	return err
}

// receive takes one message if there is one.
func (m *mail) receive(source, tag int) (data []byte, from int, ok bool, err error) {
	m.progress()
	ok, from, n, err := m.lib.Probe(source, tag)
	if err != nil || !ok {
		return nil, 0, false, err
	}
	r, err := m.lib.Receive(n, from, tag)
	if err != nil {
		return nil, 0, false, err
	}
	err = poll(time.Now().Add(time.Minute), r.Done)
	return r.Data(), from, err == nil, err
}

// wait takes one message, or gives up at the deadline.
func (m *mail) wait(source, tag int, deadline time.Time) (data []byte, err error) {
	err = poll(deadline, func() (ok bool, err error) {
		data, _, ok, err = m.receive(source, tag)
		return ok, err
	})
	return data, err
}

// progress completes sends.
func (m *mail) progress() {
	live := m.pending[:0]
	for _, r := range m.pending {
		if done, err := r.Done(); !done && err == nil {
			live = append(live, r)
		}
	}
	m.pending = live
}

// flush waits for the sends that are under way.
func (m *mail) flush(deadline time.Time) error {
	return poll(deadline, func() (bool, error) {
		m.progress()
		return len(m.pending) == 0, nil
	})
}

// poll asks again and again, at first at once and then with sleeps that grow to a millisecond.
func poll(deadline time.Time, done func() (bool, error)) error {
	for k := 0; ; k++ {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if k&15 == 15 && time.Now().After(deadline) {
			return errLate
		}
		time.Sleep(min(time.Millisecond, 20*time.Microsecond*time.Duration(1+k/8)))
	}
}

var errLate = fmt.Errorf("no answer in time")

// collect is rank 0's part: it answers every rank that is ready, takes their reports, and gives up on the others once
// nothing has come for a while.
func (m *mail) collect(size int, stages func() rootStages, patience time.Duration, take func(rank int, r report)) (lost map[int]string, hosts map[int]string, err error) {
	lost, hosts = map[int]string{}, map[int]string{}
	how := map[int]string{}
	greeted := map[int]bool{}
	for r := 1; r < size; r++ {
		lost[r] = "never came out of MPI_Init"
	}
	var packed []byte
	last := time.Now()
	for k := 0; len(lost) > 0; k++ {
		busy := false
		if data, from, ok, err := m.receive(binding.AnySource, tagHello); err != nil {
			return lost, hosts, err
		} else if ok {
			var h hello
			if unpack(data, &h) == nil {
				hosts[from] = h.Host
			}
			greeted[from] = true
			how[from] = "stopped answering while it read its variables"
			busy = true
		}
		if _, from, ok, err := m.receive(binding.AnySource, tagReady); err != nil {
			return lost, hosts, err
		} else if ok {
			if packed == nil {
				packed = pack(stages())
			}
			if err := m.send(packed, from, tagRoot); err != nil {
				return lost, hosts, err
			}
			how[from] = "did not send what it had read"
			busy = true
		}
		if data, from, ok, err := m.receive(binding.AnySource, tagReport); err != nil {
			return lost, hosts, err
		} else if ok {
			var r report
			if err := unpack(data, &r); err != nil {
				r.Failed = "its report is damaged: " + err.Error()
			}
			if r.Host != "" {
				hosts[from] = r.Host
			}
			delete(lost, from)
			take(from, r)
			busy = true
		}
		switch {
		case busy:
			last, k = time.Now(), 0
		case time.Since(last) > patience:
			for r := range lost {
				if h, ok := how[r]; ok {
					lost[r] = h
				}
			}
			return lost, hosts, nil
		default:
			time.Sleep(min(time.Millisecond, 20*time.Microsecond*time.Duration(1+k/8)))
		}
	}
	// A hello that was overtaken has arrived by now; left alone, some libraries complain of it when MPI ends.
	for r := 1; r < size; r++ {
		if how[r] != "" && !greeted[r] {
			m.wait(r, tagHello, time.Now().Add(time.Second))
		}
	}
	return nil, hosts, nil
}
