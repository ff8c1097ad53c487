package binding

import (
	"bytes"
	"testing"
	"time"
)

var messageSizes = []int{0, 1, 59999, 60000, 60001, 1 << 20, 5_000_000}

func message(size, seed int) []byte {
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i*7 + i>>8 + seed)
	}
	return data
}

// eventually calls done until it returns true.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatal(what + " takes too long")
		}
	}
}

func (m *mpi) await(r *Request) []byte {
	m.t.Helper()
	eventually(m.t, "a request", func() bool { return must(r.Done())(m.t) })
	if r.p != nil {
		m.t.Error("the memory of a completed request is left")
	}
	return r.Data()
}

// receive takes the next message with a tag.
func (m *mpi) receive(source, tag int) (data []byte, from int) {
	m.t.Helper()
	n := 0
	eventually(m.t, "a message", func() bool {
		ok, who, bytes, err := m.lib.Probe(source, tag)
		if err != nil {
			m.t.Fatal(err)
		}
		from, n = who, bytes
		return ok
	})
	return m.await(must(m.lib.Receive(n, from, tag))(m.t)), from
}

func TestMessagesToItself(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		rank, size, err := m.lib.World()
		if rank != 0 || size != 1 || err != nil {
			t.Fatal(rank, size, err)
		}
		checkMessagesToItself(t, m)
	})
}

func checkMessagesToItself(t *testing.T, m *mpi) {
	rank, _, err := m.lib.World()
	if err != nil {
		t.Fatal(err)
	}
	if name := must(m.lib.ProcessorName())(t); name == "" {
		t.Error("the processor has no name")
	}
	for _, n := range messageSizes {
		ok, _, _, err := m.lib.Probe(AnySource, 5)
		if ok || err != nil {
			t.Error("a message that nobody sent", err)
		}
		sent := message(n, n)
		r := must(m.lib.Send(sent, rank, 5))(t)
		clear(sent) // the data were copied
		got, from := m.receive(AnySource, 5)
		m.await(r)
		if from != rank || !bytes.Equal(got, message(n, n)) {
			t.Errorf("%d bytes: %d from %d, or others", n, len(got), from)
		}
		if done, err := r.Done(); !done || err != nil || r.Data() != nil {
			t.Error("a completed request is no longer complete", err)
		}
	}
	// Tags are kept separate.
	a, b := must(m.lib.Send([]byte("a"), rank, 1))(t), must(m.lib.Send([]byte("b"), rank, 2))(t)
	second, _ := m.receive(rank, 2)
	first, _ := m.receive(rank, 1)
	m.await(a)
	m.await(b)
	want(t, "tags", string(first)+string(second), "ab")
	// A receive before its message.
	wait := must(m.lib.Receive(3, rank, 9))(t)
	if done, err := wait.Done(); done || err != nil {
		t.Error(done, err)
	}
	m.await(must(m.lib.Send([]byte("xyz"), rank, 9))(t))
	want(t, "waited for", string(m.await(wait)), "xyz")
}

func TestThreeProcesses(t *testing.T) {
	child{stage: after, ranks: 3}.run(t, func(t *testing.T, m *mpi) {
		rank, size, err := m.lib.World()
		if size != 3 || err != nil {
			t.Fatal(rank, size, err)
		}
		var sends []*Request
		for _, n := range messageSizes {
			for to := range size {
				sends = append(sends, must(m.lib.Send(message(n, rank), to, 4))(t))
			}
		}
		from := map[int]int{} // number of messages by sender; each sender's come in order
		for range size * len(messageSizes) {
			got, who := m.receive(AnySource, 4)
			if from[who] >= len(messageSizes) || !bytes.Equal(got, message(messageSizes[from[who]], who)) {
				t.Fatalf("message %d of %d has %d bytes, or others", from[who], who, len(got))
			}
			from[who]++
		}
		for _, r := range sends {
			m.await(r)
		}
		h := m.openPvar(m.session(), "demo_messages_received", 7)
		want(t, "a handle for each process", h.Count(), 3)
		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
	})
}

func TestCommunicationOutsideInit(t *testing.T) {
	child{stage: before}.run(t, func(t *testing.T, m *mpi) {
		check := func(when string) {
			_, _, err := m.lib.World()
			wantErr(t, when+": World", err, errNoComms)
			_, err = m.lib.ProcessorName()
			wantErr(t, when+": ProcessorName", err, errNoComms)
			_, err = m.lib.Send(nil, 0, 0)
			wantErr(t, when+": Send", err, errNoComms)
			_, err = m.lib.Receive(0, 0, 0)
			wantErr(t, when+": Receive", err, errNoComms)
			_, _, _, err = m.lib.Probe(AnySource, 0)
			wantErr(t, when+": Probe", err, errNoComms)
		}
		check("before MPI_Init")
		m.initMPI()
		must(m.lib.Send(nil, 0, 0))(t)
		m.lib.Finalize()
		check("after MPI_Finalize")
	})
}

func TestCommunicationErrors(t *testing.T) {
	child{stage: after}.run(t, func(t *testing.T, m *mpi) {
		for _, rank := range []int{-2, 1, 1 << 20} {
			_, err := m.lib.Send([]byte("x"), rank, 0)
			wantErr(t, "Send to nobody", err, Error(1006))
			_, err = m.lib.Receive(1, rank, 0)
			wantErr(t, "Receive from nobody", err, Error(1006))
			_, _, _, err = m.lib.Probe(rank, 0)
			wantErr(t, "Probe of nobody", err, Error(1006))
		}
		for _, n := range []int{-1, -2, -1 << 40, 1 << 40} {
			if _, err := m.lib.Receive(n, 0, 0); err == nil {
				t.Errorf("Receive of %d bytes succeeds", n)
			}
		}
		// A message longer than the receive ends the request with an error, which stays.
		r := must(m.lib.Receive(2, 0, 3))(t)
		m.await(must(m.lib.Send([]byte("too long"), 0, 3))(t))
		for range 3 {
			_, err := r.Done()
			wantErr(t, "truncated", err, Error(1015))
		}
		if r.p != nil || r.Data() != nil {
			t.Error("a failed request leaves memory or data")
		}
	})
	t.Run("faults", func(t *testing.T) {
		child{stage: after, faults: "fail-isend;fail-irecv;fail-iprobe;fail-world"}.run(t, func(t *testing.T, m *mpi) {
			_, err := m.lib.Send(nil, 0, 0)
			wantErr(t, "Send", err, internalError)
			_, err = m.lib.Receive(0, 0, 0)
			wantErr(t, "Receive", err, internalError)
			_, _, _, err = m.lib.Probe(0, 0)
			wantErr(t, "Probe", err, internalError)
			_, _, err = m.lib.World()
			wantErr(t, "World", err, internalError)
		})
	})
	t.Run("test", func(t *testing.T) {
		child{stage: after, faults: "fail-test"}.run(t, func(t *testing.T, m *mpi) {
			r := must(m.lib.Receive(1, 0, 0))(t)
			for range 2 {
				_, err := r.Done()
				wantErr(t, "Done", err, internalError)
			}
			if r.p == nil {
				t.Error("the memory is gone, while the library may still write to it")
			}
		})
	})
}

// The probe's children are not ranks: a probe does not disturb pending messages.
func TestProbeWithPendingMessages(t *testing.T) {
	child{stage: after, ranks: 2, faults: "crash-read=demo_type_*"}.run(t, func(t *testing.T, m *mpi) {
		rank, _, _ := m.lib.World()
		r := must(m.lib.Send(message(5_000_000, rank), 1-rank, 4))(t)
		for range 2 {
			m.probe(ProbeOptions{Object: CommWorld})
		}
		eventually(t, "both directions", func() bool {
			done := must(r.Done())(t)
			ok, _, _, _ := m.lib.Probe(1-rank, 4)
			return done && ok
		})
		got, _ := m.receive(1-rank, 4)
		want(t, "message", bytes.Equal(got, message(5_000_000, 1-rank)), true)
		wantErr(t, "MPI_Finalize", m.lib.Finalize(), nil)
	})
}
