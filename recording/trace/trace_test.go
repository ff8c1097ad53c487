package trace

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"mpitx/fixtures/mutate"
	"mpitx/recording"
	"mpitx/recording/recordingtest"
)

func open(t testing.TB, save func(dir string) error) *recording.Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := save(dir); err != nil {
		t.Fatal(err)
	}
	run, err := recording.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Close)
	return run
}

// Each receive belongs to the send of its size, although receives complete in another order than they were posted.
func TestFlows(t *testing.T) {
	const rounds = 100
	run := open(t, func(dir string) error { return recordingtest.SaveTrace(dir, rounds) })
	for _, d := range run.Damage() {
		t.Error(d)
	}
	all := Read(run, Options{Flows: true})
	want := Totals{Calls: 2*4 + rounds + rounds*2 + 2, Sent: rounds, Received: rounds, Flows: rounds, LostEvents: 3}
	if all.Totals != want {
		t.Errorf("%+v, want %+v", all.Totals, want)
	}
	sends, received, lost, nested, externals := map[uint64]uint64{}, 0, uint64(0), 0, 0
	var phases []string
	for e := range all.Events {
		lost += e.Lost
		switch {
		case e.Phase != nil:
			phases = append(phases, e.Phase.Name)
		case e.External != nil:
			externals++
			if x := e.External; x.Source != "mpi_t" || x.Name != "queued" || x.Object.String() != "MPI_COMM_WORLD" || len(x.Fields) != 4 || x.Values[x.Fields[3].First].String() != "7" {
				t.Errorf("%+v", x)
			}
		case e.Call != nil:
			nested += e.Call.Depth
			for _, m := range e.Call.Messages {
				if !m.Received {
					sends[m.Flow] = m.Bytes
					continue
				}
				received++
				if sends[m.Flow] != m.Bytes || m.Function != "MPI_Irecv" || m.Posted >= e.Call.Begin || m.Peer != 0 {
					t.Errorf("%+v belongs to a send of %d bytes", m, sends[m.Flow])
				}
			}
		}
	}
	if all.Totals != want {
		t.Errorf("%+v after the second reading", all.Totals)
	}
	if len(sends) != rounds || received != rounds || lost != 3 || nested != 1 || externals != 1 || len(phases) != 4 || phases[0] != "solve" || phases[3] != "" {
		t.Errorf("%d sends, %d receives, %d lost, %d nested, %d externals, phases %q", len(sends), received, lost, nested, externals, phases)
	}
}

// A part of a trace has the calls that overlap it, and the flows whose two sides are among them.
func TestPart(t *testing.T) {
	run := open(t, func(dir string) error { return recordingtest.SaveTrace(dir, 100) })
	part := Read(run, Options{Flows: true, From: 9000, To: 9000 + 10*2500})
	if got := part.Totals; got.Flows != 20 || got.Sent != 20 || got.Received != 20 || got.Calls != 60 {
		t.Errorf("%+v", got)
	}
	// The second send of a round ends after 1.5 µs. The first receive to complete does so in a call from 1.3 to 1.8 µs.
	part = Read(run, Options{Flows: true, From: 9000, To: 9000 + 1600})
	if got := part.Totals; got.Flows != 1 || got.Sent != 2 || got.Received != 1 || got.Unmatched != 1 || got.LostEvents != 0 {
		t.Errorf("%+v", got)
	}
	one := Read(run, Options{Flows: true, Rank: func(r *recording.Rank) bool { return r.Rank == 1 }})
	if got := one.Totals; got.Flows != 0 || got.Received != 100 || got.Unmatched != 100 || got.Sent != 0 {
		t.Errorf("%+v", got)
	}
	for e := range part.Events {
		if e.Call != nil && (e.Call.End < 9000 || e.Call.Begin >= 9000+1600) {
			t.Errorf("%s from %v to %v", e.Call.Function, e.Call.Begin, e.Call.End)
		}
	}
}

// save writes a run of ranks with these events.
func save(t *testing.T, ranks ...func(*recordingtest.Trace)) *recording.Run {
	return open(t, func(dir string) error {
		var chunks []byte
		for rank, add := range ranks {
			s := recordingtest.NewStream(uint64(rank)+1, int32(rank))
			s.Header(recordingtest.Header{Rank: int32(rank), Size: int32(len(ranks)), Clock: 1, NsPerTick: 1, Host: "node1"})
			s.Clock(1000, 1000, 1_700_000_000_000_000_000, 0)
			x := recordingtest.NewTrace(s)
			x.Objects(recordingtest.Object{ID: 1, Size: 2, Name: "MPI_COMM_WORLD", Group: 1})
			add(x)
			x.Write(1, 100)
			s.End(1)
			s.Seal()
			chunks = append(chunks, s.Out...)
		}
		return recordingtest.Save(dir, "node1", chunks)
	})
}

func message(number uint32, flags uint32, at uint64) recordingtest.TraceEvent {
	peer, function := int32(1), "MPI_Send"
	if flags&recordingtest.TraceReceived != 0 {
		peer, function = 0, "MPI_Recv"
	}
	return recordingtest.TraceEvent{Function: function, Begin: at, End: at + 10, Bytes: uint64(number), Object: 1, Peer: peer, Tag: 1, Sequence: number, Flags: flags}
}

// Messages of threads that overlap, without a number, and whose other side was lost have no flow. Those around them have.
func TestAmbiguous(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	run := save(t, func(x *recordingtest.Trace) {
		x.Add(message(1, sent, 2000))
		x.Add(message(2, sent|recordingtest.TraceConcurrent, 2100))
		x.Add(message(3, sent, 2200))
		x.Add(message(5, sent, 2300)) // 4 was lost
		x.Add(message(0, sent, 2400))
	}, func(x *recordingtest.Trace) {
		for n := range uint32(5) {
			x.Add(message(n+1, received, 3000+100*uint64(n)))
		}
	})
	all := Read(run, Options{Flows: true})
	if want := (Totals{Calls: 10, Sent: 5, Received: 5, Flows: 3, Ambiguous: 1, Unmatched: 2}); all.Totals != want {
		t.Errorf("%+v, want %+v", all.Totals, want)
	}
	flows := map[uint64][]uint64{}
	for e := range all.Events {
		for _, m := range e.Call.Messages {
			if m.Flow != 0 {
				flows[m.Flow] = append(flows[m.Flow], m.Bytes)
			}
		}
	}
	for id, sizes := range flows {
		if len(sizes) != 2 || sizes[0] != sizes[1] || sizes[0] == 2 || sizes[0] == 4 {
			t.Errorf("flow %x: %v", id, sizes)
		}
	}
	if len(flows) != 3 {
		t.Errorf("%d flows", len(flows))
	}
}

// A hidden receive that completes after another one took the first message if it was posted before.
func TestHidden(t *testing.T) {
	const sent, received = recordingtest.TraceSent, recordingtest.TraceReceived
	for posted, taken := range map[uint64]uint64{2500: 2, 2700: 1} { // when the hidden one was posted, and the message that the other one took
		run := save(t, func(x *recordingtest.Trace) {
			x.Add(message(1, sent, 2000))
			x.Add(message(2, sent, 2100))
		}, func(x *recordingtest.Trace) {
			shown, hidden := message(1, received, 2600), message(2, received, 3000)
			shown.Bytes, hidden.Request = taken, 9
			if posted < shown.Begin {
				x.Post(posted, posted, 9)
			}
			x.Add(shown)
			if posted > shown.Begin {
				x.Post(posted, posted, 9)
			}
			x.Hidden(hidden)
		})
		all := Read(run, Options{Flows: true})
		if want := (Totals{Calls: 3, Sent: 2, Received: 1, Flows: 1, Unmatched: 1}); all.Totals != want {
			t.Errorf("%+v, want %+v", all.Totals, want)
		}
		for e := range all.Events {
			for _, m := range e.Call.Messages {
				if m.Flow != 0 && m.Bytes != taken {
					t.Errorf("%+v", m)
				}
			}
		}
	}
}

// A persistent receive was posted by the call that started it.
func TestStarted(t *testing.T) {
	run := save(t, func(x *recordingtest.Trace) {
		x.Post(2000, 2000, 3)
		x.Add(recordingtest.TraceEvent{Function: "MPI_Start", Begin: 2000, End: 2010, Site: 0x400555})
		m := message(1, recordingtest.TraceReceived, 3000)
		m.Function, m.Request = "MPI_Wait", 3
		x.Add(m)
	})
	for e := range Read(run, Options{}).Events {
		for _, m := range e.Call.Messages {
			if m.Function != "MPI_Start" || m.Site != 0x400555 || m.Posted != 1000 {
				t.Errorf("%+v", m)
			}
		}
	}
}

// A call's messages come with it; if the call was lost, they come alone.
func TestMessages(t *testing.T) {
	run := save(t, func(x *recordingtest.Trace) {
		for n := range uint32(3) {
			m := message(n+1, recordingtest.TraceSent, 2000)
			m.Message = true
			x.Add(m)
		}
		x.Add(recordingtest.TraceEvent{Function: "MPI_Startall", Begin: 2000, End: 2010, Bytes: 6})
		m := message(4, recordingtest.TraceSent, 2100)
		m.Message = true
		x.Add(m)
		x.Add(recordingtest.TraceEvent{Function: "MPI_Barrier", Begin: 2200, End: 2300})
	})
	var got []Call
	for e := range Read(run, Options{}).Events {
		c := *e.Call
		c.Messages = append([]Message(nil), c.Messages...)
		got = append(got, c)
	}
	if len(got) != 3 || len(got[0].Messages) != 3 || got[0].Function != "MPI_Startall" || !got[1].Lost || len(got[1].Messages) != 1 || got[1].Function != "MPI_Send" || len(got[2].Messages) != 0 {
		t.Errorf("%+v", got)
	}
}

// Whatever is in the events, reading ends, and no flow has more than two messages.
func FuzzEvents(f *testing.F) {
	dir := mutate.Folder(f)
	if err := recordingtest.SaveTrace(dir, 8); err != nil {
		f.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "node-*.mpxr"))
	whole, err := os.ReadFile(names[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint32(0), []byte{0})
	f.Add(uint32(len(whole)/2), []byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, at uint32, change []byte) {
		b := append([]byte(nil), whole...)
		copy(b[int(at)%len(b):], change)
		recordingtest.Fix(b)
		if err := os.WriteFile(names[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		run, err := recording.Open(dir)
		if err != nil {
			return
		}
		defer run.Close()
		flows := map[uint64]int{}
		for e := range Read(run, Options{Flows: true, To: time.Hour}).Events {
			if e.Call == nil {
				continue
			}
			for _, m := range e.Call.Messages {
				if m.Flow != 0 {
					flows[m.Flow]++
				}
			}
		}
		for id, n := range flows {
			if n > 2 {
				t.Errorf("flow %x: %d messages", id, n)
			}
		}
	})
}
